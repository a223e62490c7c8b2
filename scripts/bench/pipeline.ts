/** A recording from upload to transcript, next to the recognizer alone on the same file. */
import { execFile } from 'node:child_process';
import { openAsBlob } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeRecording, librivoxClips } from './spoken-clips.ts';
import { preparePipeline, transcribeBy } from './session-client.ts';
import { serviceEnv, startProgram } from './program.ts';
import { interleaved, ratios } from './statistics.ts';
import { errorRate, wordErrors } from './word-errors.ts';
import type { Bench, Check, Findings, Setting } from './bench.ts';
import type { Recording } from './spoken-clips.ts';
import type { Cost } from './session-client.ts';
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

type Runs = Record<'ours' | 'alone', Cost[]>;

async function run(setting: Setting): Promise<Findings> {
  const { folder, say, signal } = setting;
  const longMs = setting.sized({ full: 30 * minuteMs, quick: 2 * minuteMs, tiny: 8 * secondMs });
  const longRounds = setting.sized({ full: 3, quick: 1, tiny: 1 });
  const shortRounds = setting.sized({ full: 9, quick: 3, tiny: 1 });
  const clips = await librivoxClips();
  const long = await makeRecording(join(folder, 'long.wav'), clips, longMs);
  // Two clips without a pause; or the shortest.
  const shortClips = setting.sized({ full: [0, 1], quick: [0, 1], tiny: [1] }).map((index) => clips[index]!);
  const shortMs = setting.sized({ full: 10.1, quick: 10.1, tiny: 3 }) * secondMs;
  const short = await makeRecording(join(folder, 'short.wav'), shortClips, shortMs, [0]);

  say('Starting PostgreSQL and the service …');
  const prepared = await preparePipeline(setting);
  const env = { ...serviceEnv(setting, prepared.database.url), NODE_ENV: 'production' };
  const service = await startProgram(setting, { script: 'src/start.ts', env });
  const contenders = ({ file, durationMs }: Recording) => ({
    async ours() {
      say(`Upload → transcript, ${inWords(durationMs)} …`);
      const client = { url: service.url, key: prepared.account.key, audio: await openAsBlob(file), signal };
      return transcribeBy(client, prepared, service.pid);
    },
    alone() {
      say(`The recognizer alone, ${inWords(durationMs)} …`);
      return recognizeAlone(file, folder, signal);
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
    raw: { ofLong, ofShort, errors },
  };
}

/** It dies with the bench, however the bench ends. @param folder for the decoded audio */
async function recognizeAlone(file: string, folder: string, signal: AbortSignal): Promise<Cost> {
  const command = [process.execPath, join(import.meta.dirname, 'recognize-alone.ts'), file, folder];
  const run = promisify(execFile)('setpriv', ['--pdeathsig', 'KILL', '--', ...command], {
    ...{ signal, killSignal: 'SIGKILL', maxBuffer: 2 ** 26 },
  });
  return JSON.parse((await run).stdout) as Cost;
}

function checksOf(
  [long, short]: [Recording, Recording],
  ofLong: Runs,
  ofShort: Runs,
  errors: Record<keyof Runs, WordErrors>,
): Check[] {
  const work = `${inWords(long.durationMs)} of speech`;
  const compared = (what: 'ms' | 'cpuMs') =>
    ratios(
      ofLong.ours.map((run) => run[what]),
      ofLong.alone.map((run) => run[what]),
    );
  const peaks = (which: 'own' | 'below') => ofLong.ours.map(({ memory }) => memory[which] / megabyte);
  const above = ofShort.ours.map(({ ms }, round) => ms - ofShort.alone[round]!.ms);
  const cpuSeconds = (who: keyof Runs) => ofLong[who].map(({ cpuMs }) => cpuMs / secondMs);
  const rates = { ours: errorRate(errors.ours) * 100, alone: errorRate(errors.alone) * 100 };
  const clip = `${inWords(short.durationMs)} clip`;
  return [
    { work, measure: 'time ÷ alone', values: compared('ms'), goal: { atMost: 1.1 } },
    { work, measure: 'CPU time ÷ alone', values: compared('cpuMs'), goal: { atMost: 1.1 } },
    { work, measure: 'CPU time', values: cpuSeconds('ours'), unit: 's' },
    { work, measure: 'CPU time, alone', values: cpuSeconds('alone'), unit: 's' },
    { work, measure: 'words wrong, goal: as alone', values: [rates.ours], unit: '%', goal: { atMost: rates.alone } },
    { work, measure: 'peak memory of the service', values: peaks('own'), unit: 'MB', goal: { atMost: 300 } },
    { work, measure: 'peak memory of its children', values: peaks('below'), unit: 'MB' },
    { work: clip, measure: 'time above alone', values: above, unit: 'ms', goal: { atMost: 300 } },
  ];
}
