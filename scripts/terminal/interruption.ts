/** Ctrl-C. The first one lets a command end in order; a second one ends the process at once. */

// The terminal sends the signal to npm and to this process, and npm passes it on. So one key press may arrive twice.
const samePressMs = 500;

/**
 * Aborts on the first SIGINT or SIGTERM; a later one ends the process, which rolls a transaction back.
 * @param notice what the first one writes to standard error, if anything
 */
export function listenForInterruption(notice?: string): { interrupted: AbortSignal; stopListening(): void } {
  const controller = new AbortController();
  let firstAt: number | undefined;
  const onSignal = () => {
    const now = performance.now();
    if (firstAt !== undefined && now - firstAt > samePressMs) process.exit(130);
    if (firstAt === undefined && notice !== undefined) process.stderr.write(`${notice}\n`);
    firstAt ??= now;
    controller.abort();
  };
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.on(signal, onSignal);
  return {
    interrupted: controller.signal,
    stopListening: () => signals.forEach((signal) => process.off(signal, onSignal)),
  };
}
