import type { Db } from '../../../db/connection/database.ts';

/** The same connections, with a count of the statements that go over them by this handle. */
export function countStatements(db: Db): { db: Db; count: () => number } {
  let count = 0;
  const counted = db.withPlugin({
    transformQuery({ node }) {
      count += 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  return { db: counted, count: () => count };
}
