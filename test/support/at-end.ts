const ends: (() => unknown)[] = [];

/**
 * For what a test file begins: ended after its last test, what began last first. Jest by itself runs `afterAll` in the
 * order in which the file names them, which stops a database before those who use it.
 */
export function atEnd(end: () => unknown): void {
  ends.push(end);
}

/** Ends what the file of this moment began: the runner calls it after the file's own hooks of `afterAll`. */
export async function endAll(): Promise<void> {
  const failures: unknown[] = [];
  for (const end of ends.splice(0).reverse()) {
    try {
      await end();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join('\n'));
}
