/** A recording from upload to transcript, next to the recognizer alone on the same file. */
import { join } from 'node:path';
import { recognizeAlone } from './alone.ts';
import { makeRecording } from './long-recording.ts';
import { startPipeline } from './pipeline-service.ts';
import { interleaved } from './rounds.ts';
import { librivoxClips } from './spoken-clips.ts';
import { quantile, ratios } from './statistics.ts';
import { errorRate, wordErrors } from './word-errors.ts';
import type { AloneRun } from './alone.ts';
import type { Bench, Check, Figures, Findings, Setting } from './bench.ts';
import type { Recording } from './long-recording.ts';
import type { PipelineRun } from './pipeline-service.ts';
import type { WordErrors } from './word-errors.ts';

const megabyte = 1_000_000;
const secondMs = 1_000;
const minuteMs = 60 * secondMs;

export const pipeline: Bench = {
  name: 'pipeline',
  summary: 'upload → transcript of long and short speech, against the recognizer alone on the same file',
  run,
};

const inWords = (ms: number) => (ms < minuteMs ? `${Math.round(ms / secondMs)} s` : `${ms / minuteMs} min`);

interface Runs {
  ours: PipelineRun[];
  alone: AloneRun[];
}

async function run(setting: Setting): Promise<Findings> {
  const longMs = setting.sized({ full: 30 * minuteMs, quick: 2 * minuteMs, tiny: 8 * secondMs });
  const longRounds = setting.sized({ full: 3, quick: 1, tiny: 1 });
  const shortRounds = setting.sized({ full: 9, quick: 3, tiny: 1 });
  const clips = await librivoxClips();
  const long = await makeRecording(join(setting.folder, 'long.wav'), clips, longMs);
  // Two clips without a pause; or the shortest.
  const shortClips = setting.sized({ full: [0, 1], quick: [0, 1], tiny: [1] }).map((index) => clips[index]!);
  const shortMs = setting.sized({ full: 10.1, quick: 10.1, tiny: 3 }) * secondMs;
  const short = await makeRecording(join(setting.folder, 'short.wav'), shortClips, shortMs, [0]);

  setting.say('Starting PostgreSQL and the service …');
  const { transcribe } = await startPipeline(setting, {});
  const contenders = ({ file, durationMs }: Recording) => ({
    ours: () => {
      setting.say(`Upload → transcript, ${inWords(durationMs)} …`);
      return transcribe(file);
    },
    alone: () => {
      setting.say(`The recognizer alone, ${inWords(durationMs)} …`);
      return recognizeAlone(file, setting.folder, setting.signal);
    },
  });
  const ofShort: Runs = await interleaved(setting, shortRounds, contenders(short));
  const ofLong: Runs = await interleaved(setting, longRounds, contenders(long), 0);
  const errors = {
    ours: wordErrors(long.text, ofLong.ours[0]!.text),
    alone: wordErrors(long.text, ofLong.alone[0]!.text),
  };
  return {
    sizes: {
      'long file': `${inWords(longMs)}, 16 kHz mono WAV, ${errors.ours.words} words`,
      'short file': inWords(short.durationMs),
      rounds: `${longRounds}, and ${shortRounds} of the short file`,
    },
    checks: checksOf([long, short], ofLong, ofShort, errors),
    figures: [figuresOf(long, ofLong, errors), partsOf(ofShort)],
    raw: { ofLong, ofShort, errors },
  };
}

function checksOf(
  [long, short]: [Recording, Recording],
  ofLong: Runs,
  ofShort: Runs,
  errors: Record<keyof Runs, WordErrors>,
): Check[] {
  const work = `${inWords(long.durationMs)} of speech`;
  const of = (runs: readonly AloneRun[], what: 'ms' | 'cpuMs') => runs.map((run) => run[what]);
  const compared = (what: 'ms' | 'cpuMs') => ratios(of(ofLong.ours, what), of(ofLong.alone, what));
  const peaks = (which: 'own' | 'below') => ofLong.ours.map(({ memory }) => memory[which] / megabyte);
  const above = ofShort.ours.map(({ ms }, round) => ms - ofShort.alone[round]!.ms);
  const rates = { ours: errorRate(errors.ours) * 100, alone: errorRate(errors.alone) * 100 };
  return [
    { work, measure: 'time ÷ alone', values: compared('ms'), goal: { atMost: 1.1 } },
    { work, measure: 'CPU time ÷ alone', values: compared('cpuMs'), goal: { atMost: 1.1 } },
    { work, measure: 'words wrong, goal: as alone', values: [rates.ours], unit: '%', goal: { atMost: rates.alone } },
    { work, measure: 'peak memory of the service', values: peaks('own'), unit: 'MB', goal: { atMost: 300 } },
    { work, measure: 'peak memory of its children', values: peaks('below'), unit: 'MB' },
    {
      work: `${inWords(short.durationMs)} clip`,
      measure: 'time above alone',
      values: above,
      unit: 'ms',
      goal: { atMost: 300 },
    },
  ];
}

function figuresOf({ durationMs }: Recording, runs: Runs, errors: Record<keyof Runs, WordErrors>): Figures {
  const row = (name: string, which: keyof Runs) => {
    const median = (of: (run: AloneRun) => number) => quantile(runs[which].map(of), 0.5);
    const { insertions, deletions, substitutions } = errors[which];
    const seconds = [median(({ ms }) => ms), median(({ cpuMs }) => cpuMs)].map((ms) => ms / secondMs);
    const memory = [median((run) => run.memory.own), median((run) => run.memory.below)].map(
      (bytes) => bytes / megabyte,
    );
    return [name, ...seconds, errorRate(errors[which]) * 100, insertions, deletions, substitutions, ...memory];
  };
  return {
    title: `${inWords(durationMs)}, medians of all rounds`,
    head: ['by', 's', 'CPU s', 'WER %', 'inserted', 'deleted', 'substituted', 'own peak MB', 'children’s peak MB'],
    rows: [row('upload → transcript', 'ours'), row('the recognizer alone', 'alone')],
  };
}

function partsOf({ ours, alone }: Runs): Figures {
  const median = (of: (run: PipelineRun) => number) => quantile(ours.map(of), 0.5);
  return {
    title: 'The short file: where the time goes, medians of all rounds',
    head: ['part', 'ms'],
    rows: [
      ['upload, to the 202', median(({ parts }) => parts.upload)],
      ['202 → processing', median(({ parts }) => parts.pickup)],
      ['processing: decoding, recognizing, storing', median(({ parts }) => parts.work)],
      ['stored → answered', median(({ parts }) => parts.answer)],
      ['in all', median(({ ms }) => ms)],
      [
        'the recognizer alone',
        quantile(
          alone.map(({ ms }) => ms),
          0.5,
        ),
      ],
    ],
  };
}
