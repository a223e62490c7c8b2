import type { Readable, Writable } from 'node:stream';
import type { Interruption } from './interruption.ts';

/** What a command has of the world outside: that of its process, or what a test gives it. */
export interface Terminal {
  /** What was typed after the name of the command. */
  argv: readonly string[];
  env: NodeJS.ProcessEnv;
  stdin: Readable & { isTTY?: boolean };
  out: Writable;
  err: Screen;
  /** From this call on, Ctrl-C aborts a signal instead of ending the process. */
  listenForInterruption(this: void): Interruption;
}

/** Where people look while a command works. */
export type Screen = Writable & { isTTY?: boolean };

/** @returns the exit code */
export type CommandLine = (terminal: Terminal) => Promise<number>;
