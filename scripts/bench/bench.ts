/** What a bench is, what it is given, and what it hands back. */
import type { RecognizerName } from '../../src/recognizers/names.ts';

export interface Bench {
  /** What people type: `npm run bench -- NAME`. Also the name of its files. */
  readonly name: string;
  /** One line for the list of benches. */
  readonly summary: string;
  /** What it lets people choose; anything else is refused. */
  readonly takes?: readonly (keyof Choices)[];
  run(setting: Setting): Promise<Findings>;
}

/** `tiny` shows that everything runs and means nothing; `quick` ends within a minute; only `full` is worth quoting. */
export type Size = 'full' | 'quick' | 'tiny';

/** What some benches let people choose beside the size. */
export interface Choices {
  /** `--recognizer`, in place of `RECOGNIZER`. */
  readonly recognizer?: RecognizerName;
  /** A folder of recordings with what is said in them. */
  readonly audio?: string;
  /** `--hours` of speech. */
  readonly hours?: number;
}

export interface Setting {
  readonly size: Size;
  readonly choices: Choices;
  /** The one of three values that belongs to the size of this run. */
  sized<Value>(choices: Record<Size, Value>): Value;
  /** Empty, on the project's disk, and removed after the run. */
  readonly folder: string;
  /** Aborts on ^C. */
  readonly signal: AbortSignal;
  /** Progress, for the person who waits. */
  say(message: string): void;
  /** Registers what must be stopped after the run, also when it fails or is interrupted. The last one goes first. */
  atEnd(stop: () => Promise<unknown>): void;
}

/** Exactly one of the two bounds; `aim` is what would be better still. */
export type Goal = { atLeast: number; aim?: number } | { atMost: number; aim?: number };

/** One line of the table and one bar of the chart: something measured several times. */
export interface Check {
  /** What was done: `list of 20`. */
  work: string;
  /** What `values` are: `requests/s ÷ bare`. */
  measure: string;
  /** One for each round. */
  values: number[];
  /** `ms`, `MB`; nothing for a ratio. */
  unit?: string;
  /** Missing for what is only told. */
  goal?: Goal;
}

/** A table of plain figures below the goals. */
export interface Figures {
  title: string;
  head: string[];
  rows: (string | number)[][];
}

export interface Findings {
  /** How much of everything there was: rows, bytes, connections, rounds. */
  sizes: Record<string, string | number>;
  checks: Check[];
  figures: Figures[];
  /** Everything that was measured, for the JSON file. */
  raw: unknown;
}

/** A run as it is kept in `<name>.json`. */
export interface Run extends Findings {
  name: string;
  size: Size;
  /** RFC 3339, UTC. */
  date: string;
  /** Machine and versions. */
  machine: Record<string, string>;
}
