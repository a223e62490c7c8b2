/** What the accuracy bench shows: how the service does beside its model, over all clips and in long speech. */
import { quantile } from './statistics.ts';
import { errorRate, sumOf } from './word-errors.ts';
import type { DecodedAudio } from '../../src/recognizers/recognizer.ts';
import type { Check, Figures } from './bench.ts';
import type { Recording } from './long-recording.ts';
import type { SpokenClip } from './spoken-clips.ts';
import type { WordErrors } from './word-errors.ts';

const megabyte = 1_000_000;

export interface Transcribed {
  text: string;
  errors: WordErrors;
  /** Without decoding. */
  ms: number;
}

export interface MeasuredClip extends SpokenClip {
  wav: string;
  audio: DecodedAudio;
  direct: Transcribed;
  service: Transcribed;
}

export interface MeasuredLong extends Recording {
  /** With the starts of its captions, in ms. */
  service: Transcribed & { starts: readonly number[] };
  peakBytes: number;
}

/** So many of 100 words more than the model itself gets wrong may be wrong, for all that lies around it. */
const mostMore = 1;

const percentOf = (errors: WordErrors) => errorRate(errors) * 100;
const missing = ({ words, deletions }: WordErrors) => (deletions / Math.max(1, words)) * 100;
const all = (clips: readonly MeasuredClip[], by: 'direct' | 'service') => sumOf(clips.map((clip) => clip[by].errors));
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

export function checksOf(clips: readonly MeasuredClip[], long: MeasuredLong): Check[] {
  const direct = all(clips, 'direct');
  const goal = { atMost: percentOf(direct) + mostMore };
  const work = 'joined speech';
  const lost = missing(long.service.errors) - missing(direct);
  const off = startsOff(long, clips);
  return [
    { work: 'the model, asked for each clip', measure: 'words wrong', values: [percentOf(direct)], unit: '%' },
    { work: 'clip by clip', measure: 'words wrong', values: [percentOf(all(clips, 'service'))], unit: '%', goal },
    { work, measure: 'words wrong', values: [percentOf(long.service.errors)], unit: '%', goal },
    { work, measure: 'words lost in and between pieces', values: [lost], unit: '%', goal: { atMost: mostMore } },
    { work, measure: 'captions off, median', values: [quantile(off, 0.5)], unit: 'ms', goal: { atMost: 250 } },
    { work, measure: 'captions off, 9 of 10', values: [quantile(off, 0.9)], unit: 'ms', goal: { atMost: 1200 } },
    { work, measure: 'time ÷ length', values: [long.service.ms / long.durationMs] },
    { work, measure: 'peak memory of children', values: [long.peakBytes / megabyte], unit: 'MB' },
  ];
}

/** How far from where the voice of each clip begins the nearest caption begins. */
function startsOff({ clips, service }: MeasuredLong, measured: readonly MeasuredClip[]): number[] {
  return clips.map(({ clip, startMs }) => {
    const first = measured.find(({ name }) => name === clip.name)?.audio.silences[0];
    const voiceMs = startMs + (first?.startMs === 0 ? first.endMs : 0);
    return Math.min(...service.starts.map((caption) => Math.abs(caption - voiceMs)));
  });
}

export function figuresOf(clips: readonly MeasuredClip[], long: MeasuredLong): Figures[] {
  const row = (name: string, by: string, durationMs: number, { errors, ms }: Pick<Transcribed, 'errors' | 'ms'>) => {
    const { words, insertions, deletions, substitutions } = errors;
    return [name, by, durationMs / 1000, words, insertions, deletions, substitutions, percentOf(errors), ms / 1000];
  };
  const inTotal = (by: 'direct' | 'service'): Pick<Transcribed, 'errors' | 'ms'> => ({
    errors: all(clips, by),
    ms: sum(clips.map((clip) => clip[by].ms)),
  });
  const [direct, service] = ['the model', 'the service'];
  const clipsMs = sum(clips.map(({ audio }) => audio.durationMs));
  return [
    {
      title: 'Words wrong',
      head: ['recording', 'by', 's', 'words', 'inserted', 'deleted', 'substituted', 'wrong %', 'took s'],
      rows: [
        ...clips.flatMap((clip) => [
          row(clip.name, direct, clip.audio.durationMs, clip.direct),
          row(clip.name, service, clip.audio.durationMs, clip.service),
        ]),
        row('all clips', direct, clipsMs, inTotal('direct')),
        row('all clips', service, clipsMs, inTotal('service')),
        row('joined', service, long.durationMs, long.service),
      ],
    },
  ];
}
