/** What a bench is, what it is given, and what it hands back. */
import type { RecognizerName } from '../../src/recognizers/names.ts';

export interface Bench {
  /** What people type: `npm run bench -- NAME`. Also the name of its files. */
  readonly name: string;
  /** One line for the list of benches. */
  readonly summary: string;
  /** The options that it takes; all others are refused. */
  readonly takes?: readonly (keyof Choices)[];
  run(setting: Setting): Promise<Findings>;
}

/**
 * `tiny` shows that everything runs; its figures mean nothing. `quick` ends within a minute. Only figures of `full` may
 * be quoted.
 */
export type Size = 'full' | 'quick' | 'tiny';

/** The options of some benches, besides the size. */
export interface Choices {
  /** `--recognizer`, in place of `RECOGNIZER`. */
  readonly recognizer?: RecognizerName;
  /** `--model`, in place of `SHERPA_ONNX_MODEL`. */
  readonly model?: string;
  /** `--server`: where a server with OpenAI's interface is. */
  readonly server?: string;
  /** A folder of recordings with what is said in them. */
  readonly audio?: string;
  /** `--hours` of speech. */
  readonly hours?: number;
}

export interface Setting {
  readonly size: Size;
  readonly choices: Choices;
  /** Chooses one of three values by the size of this run. */
  sized<Value>(choices: Record<Size, Value>): Value;
  /** Empty, on the project's disk, and removed after the run. */
  readonly folder: string;
  /** Aborts on ^C. */
  readonly signal: AbortSignal;
  /** Progress, for the person who waits. */
  say(message: string): void;
  /**
   * Registers what must be stopped after the run, also when it fails or is interrupted. What was registered last is
   * stopped first.
   */
  atEnd(stop: () => Promise<unknown>): void;
}

/** Exactly one of the two bounds. */
export type Goal = { atLeast: number } | { atMost: number };

/** One line of the table: something measured several times. */
export interface Check {
  /** What was done: `list of 20`. */
  work: string;
  /** What `values` are: `requests/s ÷ bare`. */
  measure: string;
  /** One for each round. */
  values: number[];
  /** `ms`, `MB`; absent for a ratio. */
  unit?: string;
  /** Absent for a figure that has no goal. */
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
  figures?: Figures[];
  /** Everything that was measured, for the JSON file. */
  raw: unknown;
}

/** A run as it is kept in `<name>.json`. */
export interface Run extends Findings {
  name: string;
  size: Size;
  /** RFC 3339, UTC. */
  date: string;
  machine: Record<string, string>;
}
