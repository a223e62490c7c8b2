/** Ctrl-C. The first one lets a command end in order; a second one ends the process at once. */

// The terminal sends the signal to npm and to this process, and npm passes it on. So one key press may arrive twice.
const samePressMs = 500;

const signals = ['SIGINT', 'SIGTERM'] as const;
type Hear = (signal: (typeof signals)[number]) => void;

export interface Interruption {
  /** Aborted by the first signal. */
  interrupted: AbortSignal;
  /** Gives the signals to `hear` alone, until the returned function is called. */
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
