const ends: (() => unknown)[] = [];

/**
 * For what a test file begins: ended after its last test, what began last first. Jest by itself runs `afterAll` in the
 * order in which the file names them, which stops a database before those who use it.
 */
export function atEnd(end: () => unknown): void {
  ends.push(end);
}

afterAll(async () => {
  const failures: unknown[] = [];
  for (const end of ends.reverse()) {
    try {
      await end();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join('\n'));
});
