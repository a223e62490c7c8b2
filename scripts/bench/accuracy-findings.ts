/** What the accuracy bench shows: a table of all recordings, and the figures of all of them together. */
import { errorRate, sumOf } from './word-errors.ts';
import type { Check, Figures } from './bench.ts';
import type { SpokenClip } from './spoken-clips.ts';
import type { WordErrors } from './word-errors.ts';

const megabyte = 1_000_000;

export interface Cost {
  errors: WordErrors;
  /** Time for recognition, without decoding. */
  ms: number;
  /** Of all processes. */
  cpuMs: number;
  peakBytes: number;
}

export interface Heard extends Cost {
  text: string;
}

export interface MeasuredClip extends SpokenClip {
  durationMs: number;
  ours: Heard;
  /** Only for PocketSphinx. */
  bare?: Heard;
}

export const sum = <Item>(items: readonly Item[], of: (item: Item) => number) =>
  items.reduce((total, item) => total + of(item), 0);
const percentOf = (errors: WordErrors) => errorRate(errors) * 100;

export function checksOf(measured: readonly MeasuredClip[]): Check[] {
  const rate = percentOf(sumOf(measured.map(({ ours }) => ours.errors)));
  const bare = measured.flatMap((clip) => clip.bare ?? []);
  const bareRate = bare.length > 0 ? percentOf(sumOf(bare.map(({ errors }) => errors))) : undefined;
  const factors = measured.map(({ ours, durationMs }) => ours.ms / durationMs);
  const peak = Math.max(...measured.map(({ ours }) => ours.peakBytes)) / megabyte;
  const goal = bareRate === undefined ? {} : { goal: { atMost: bareRate } };
  return [
    { work: 'word error rate', measure: 'goal: the bare command’s', values: [rate], unit: '%', ...goal },
    { work: 'real-time factor', measure: 'time ÷ length of each', values: factors },
    { work: 'peak memory', measure: 'all processes of the recognizer', values: [peak], unit: 'MB' },
  ];
}

export function figuresOf(recognizer: string, measured: readonly MeasuredClip[]): Figures {
  const row = (name: string, by: string, durationMs: number, heard: Cost) => {
    const { words, insertions, deletions, substitutions } = heard.errors;
    const wrong = [insertions, deletions, substitutions, percentOf(heard.errors)];
    const cores = heard.cpuMs / heard.ms;
    return [name, by, durationMs / 1000, words, ...wrong, heard.ms / durationMs, cores, heard.peakBytes / megabyte];
  };
  const total = (by: string, heard: Heard[]) =>
    row(
      'in total',
      by,
      sum(measured, ({ durationMs }) => durationMs),
      {
        errors: sumOf(heard.map(({ errors }) => errors)),
        ms: sum(heard, ({ ms }) => ms),
        cpuMs: sum(heard, ({ cpuMs }) => cpuMs),
        peakBytes: Math.max(...heard.map(({ peakBytes }) => peakBytes)),
      },
    );
  const bare = measured.flatMap((clip) => clip.bare ?? []);
  const command = 'the bare command';
  return {
    title: 'Word error rate: errors for each word of the reference',
    head: [
      'recording',
      'by',
      's',
      'words',
      'inserted',
      'deleted',
      'substituted',
      'WER %',
      'real-time factor',
      'cores',
      'peak MB',
    ],
    rows: [
      ...measured.flatMap((clip) => [
        row(clip.name, recognizer, clip.durationMs, clip.ours),
        ...(clip.bare ? [row(clip.name, command, clip.durationMs, clip.bare)] : []),
      ]),
      total(
        recognizer,
        measured.map(({ ours }) => ours),
      ),
      ...(bare.length > 0 ? [total(command, bare)] : []),
    ],
  };
}
