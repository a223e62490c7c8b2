/**
 * What a promise answers, but `late` when it has not answered after `limitMs`. The work itself goes on.
 * @throws what the promise rejects with in time
 */
export async function withTimeout<T, Late>(work: Promise<T>, limitMs: number, late: Late): Promise<T | Late> {
  const limit = Promise.withResolvers<Late>();
  const timer = setTimeout(() => limit.resolve(late), limitMs);
  return Promise.race([work, limit.promise]).finally(() => clearTimeout(timer));
}
