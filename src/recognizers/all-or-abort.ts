import type { RecognizeOptions } from './recognizer.ts';

type Work = (signal: AbortSignal) => Promise<unknown>;

/**
 * Runs works at once, and gives each a signal. The first work that fails stops the others by that signal. Nothing runs
 * any more when this rejects.
 * @returns what each work resolves to
 * @throws what the first work to fail throws
 * @throws the abort reason of `signal`
 */
export async function allOrAbort<const Works extends readonly Work[]>(
  signal: AbortSignal,
  works: Works,
): Promise<{ -readonly [Index in keyof Works]: Awaited<ReturnType<Works[Index]>> }> {
  const failed = new AbortController();
  const stop = AbortSignal.any([signal, failed.signal]);
  const run = (work: Work) =>
    work(stop).catch((error: unknown) => {
      failed.abort(error);
      throw error;
    });
  const outcomes = await Promise.allSettled(works.map(run));
  signal.throwIfAborted();
  failed.signal.throwIfAborted();
  const values = outcomes.map((outcome) => (outcome as PromiseFulfilledResult<unknown>).value);
  return values as { -readonly [Index in keyof Works]: Awaited<ReturnType<Works[Index]>> };
}

/** Lets progress only rise: whole percents, each larger than the last. */
export function rising(onProgress: RecognizeOptions['onProgress']): (percent: number) => void {
  let last = 0;
  return (percent) => {
    if (percent <= last) return;
    last = percent;
    onProgress?.(percent);
  };
}

/**
 * One progress for several works. Each of them goes through the whole recording, and they count equally.
 * @returns takes the whole percents of one work, by its position
 */
export function meanProgress(
  works: number,
  onProgress: RecognizeOptions['onProgress'],
): (work: number) => (percent: number) => void {
  const percents = new Array<number>(works).fill(0);
  const report = rising(onProgress);
  return (work) => (percent) => {
    percents[work] = percent;
    report(Math.floor(percents.reduce((sum, own) => sum + own, 0) / works));
  };
}
