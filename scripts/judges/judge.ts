/** What a judge is, and what it is given to work with. */
import type { CommandOptions } from './commands.ts';

export interface Judge {
  /** For `--only`; also the name of its folder in the cache. */
  name: string;
  tool: string;
  /** Whether it takes part in `--quick`. */
  isQuick: boolean;
  /**
   * @returns when the service and its contract passed
   * @throws {NotRun} when this machine can't run the tool; any other error means that the service or its contract fell
   *   short
   */
  judge(bench: Bench): Promise<Verdict>;
}

export interface Verdict {
  version: string;
  /** What was done, with numbers. */
  did: string;
}

export interface Bench {
  /** The judge's own folder: what it installed and generated stays there for the next run. */
  folder: string;
  /** Folder of the downloads that judges share. */
  cache: string;
  isQuick: boolean;
  /** The contract as the service serves it, in a file. */
  contract: string;
  service: JudgedService;
  /** Runs a command in the judge's folder. Its output goes to `log.txt` there. @returns its standard output */
  run(command: readonly string[], options?: BenchOptions): Promise<string>;
  /**
   * As `run`, for a command that needs a toolchain or a registry.
   * @throws {NotRun} when it fails
   */
  fetch(command: readonly string[], options?: BenchOptions): Promise<string>;
}

export type BenchOptions = Partial<Pick<CommandOptions, 'cwd' | 'env' | 'limitMs'>>;

export interface JudgedService {
  /** Where version 1 is served. */
  url: string;
  /** For generated clients: an API key with both scopes. All accounts have a large allowance, queue and balance. */
  key: string;
  /** A recording of human speech, a few seconds long. */
  audio: string;
  /** For fuzzing: two accounts with sessions, and what a fuzzer must know of the first. */
  fuzzed: {
    key: string;
    strangerKey: string;
    /** Completed sessions. */
    sessionIds: string[];
    /** Of the list of sessions. */
    cursor: string;
    /** Half a second of speech. */
    audio: string;
  };
}

/** The tool can't be run here. This is never a pass, and no fault of the service. */
export class NotRun extends Error {}

/** The answer is not what it must be. */
export function expect(isSo: boolean, otherwise: string): asserts isSo {
  if (!isSo) throw new Error(otherwise);
}
