/** The search index holds what titles and transcripts say, and nothing else: it is made once more and compared. */
import { findIndexedOtherwise, listSearchable } from '../../db/audit/search-index.ts';
import { maxExamples } from '../../db/audit/rule.ts';
import { firstPlace } from '../../db/search/unindexed.ts';
import { passagesOf } from '../search/session-passages.ts';
import type { Trx } from '../../db/database.ts';
import type { AuditedSession, ExpectedPassage } from '../../db/audit/search-index.ts';
import type { Check } from '../../db/audit/rule.ts';
import type { SessionPlace } from '../../db/search/unindexed.ts';

const atATime = 100;

export async function checkSearchIndex(snapshot: Trx): Promise<Check> {
  const check: Check = {
    ...{ id: 'index_is_text', rule: 'The search index holds what title and transcript of a session say' },
    ...{ checked: 0, breaches: 0, examples: [] },
  };
  let after: SessionPlace = firstPlace;
  for (;;) {
    const sessions = await listSearchable(snapshot, after, atATime);
    const expected: ExpectedPassage[] = [];
    for (const session of sessions.filter(({ isWhole }) => isWhole))
      expected.push(...(await passagesExpected(snapshot, session)));
    const broken = await findIndexedOtherwise(snapshot, expected);
    check.checked += sessions.length;
    check.breaches += broken.length;
    check.examples = [...check.examples, ...broken.sort()].slice(0, maxExamples);
    const last = sessions.at(-1);
    if (last === undefined) return check;
    after = { accountId: last.account_id, id: last.id };
  }
}

async function passagesExpected(snapshot: Trx, session: AuditedSession): Promise<ExpectedPassage[]> {
  const { account_id: accountId, id: sessionId, title, language } = session;
  const segments = session.segments ?? undefined;
  const passages = await passagesOf(snapshot, accountId, { title, language, segments });
  const ofTranscript = segments !== undefined;
  return passages.map((passage, number) => ({ ...passage, accountId, sessionId, number, ofTranscript }));
}
