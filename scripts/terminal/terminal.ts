import type { Readable, Writable } from 'node:stream';

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

// The terminal sends the signal to npm and to this process, and npm passes it on. So one key press may arrive twice.
const samePressMs = 500;

const signals = ['SIGINT', 'SIGTERM'] as const;
type Hear = (signal: (typeof signals)[number]) => void;

export interface Interruption {
  /** Aborted by the first signal. */
  interrupted: AbortSignal;
  /** Gives the signals to `hear` alone, until the function that it returns is called. */
  handOver(hear: Hear): () => void;
  stopListening(): void;
}

/** Aborts on the first SIGINT or SIGTERM; a later one ends the process, which rolls a transaction back. */
export function listenForInterruption(): Interruption {
  const controller = new AbortController();
  let firstAt: number | undefined;
  const interrupt = () => {
    const now = performance.now();
    if (firstAt !== undefined && now - firstAt > samePressMs) process.exit(130);
    firstAt ??= now;
    controller.abort();
  };
  let heardBy: Hear = interrupt;
  const onSignal: Hear = (signal) => heardBy(signal);
  for (const signal of signals) process.on(signal, onSignal);
  return {
    interrupted: controller.signal,
    handOver(hear) {
      heardBy = hear;
      return () => (heardBy = interrupt);
    },
    stopListening: () => signals.forEach((signal) => process.off(signal, onSignal)),
  };
}
