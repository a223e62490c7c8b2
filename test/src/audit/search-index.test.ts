import { randomBytes } from 'node:crypto';
import { inSnapshot } from '../../../db/transaction.ts';
import { listSearchable } from '../../../db/audit/search-index.ts';
import { firstPlace } from '../../../db/search/unindexed.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { makeSession, twoSegments } from '../../support/service/sessions.ts';
import { useService } from '../../support/service/use-service.ts';

const service = await useService();

/** Compresses badly, and has no words. */
const noise = (length: number) =>
  Array.from(randomBytes(length), (byte) => '!#$%&()*+,-./:;<=>?@[]^_{|}~'[byte % 28]).join('');

test('long transcripts → a few at a time, and none left out', async () => {
  const { id: accountId } = await makeAccount(service.db);
  const made: string[] = [];
  for (const length of [2_000_000, 10, 10, 2_000_000, 2_000_000, 10]) {
    const segments = JSON.stringify([{ index: 0, startMs: 0, endMs: 9, text: noise(length) }]);
    const { id } = await makeSession(service.db, accountId, {
      status: 'completed',
      transcript: { ...twoSegments, segments },
    });
    made.push(id);
  }
  const pages: string[][] = [];
  await inSnapshot(service.db, async (snapshot) => {
    for (let after = firstPlace; ; after = { accountId, id: pages.at(-1)!.at(-1)! }) {
      const page = await listSearchable(snapshot, after, 100);
      if (page.length === 0) return;
      pages.push(page.map(({ id }) => id));
    }
  });
  expect(pages.flat()).toEqual(made.toSorted());
  expect(pages.map(({ length }) => length)).toEqual([1, 3, 1, 1]);
});
