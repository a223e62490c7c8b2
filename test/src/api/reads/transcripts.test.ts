import { findSessionWithSegments } from '../../../../db/sessions/transcripts.ts';
import { transcriptText, TranscriptBodies } from '../../../../src/api/reads/transcripts.ts';
import { makeAccount } from '../../../support/service/accounts.ts';
import { saySession } from '../../../support/service/said.ts';
import { useService } from '../../../support/service/use-service.ts';
import type { TranscriptType } from '../../../../src/api/answers/negotiation.ts';

const service = await useService();
const { signal } = new AbortController();

class CountedBodies extends TranscriptBodies {
  count = 0;

  override of(...given: Parameters<TranscriptBodies['of']>): Promise<string> {
    this.count += 1;
    return super.of(...given);
  }
}

test.each<[string, number, TranscriptType, number[] | undefined, number]>([
  ['a short transcript as captions', 20, 'text/vtt', undefined, 0],
  ['a long one as JSON, as it is stored', 2_000, 'application/json', undefined, 0],
  ['a long one as captions', 2_000, 'text/vtt', undefined, 1],
  ['some segments of a short one', 20, 'application/json', [3], 1],
])('%s → made at once, or once for all who ask and in turn', async (_, count, type, only, shared) => {
  const { id: accountId } = await makeAccount(service.db);
  const id = await saySession(
    service.db,
    accountId,
    Array.from({ length: count }, () => 'the same again'),
  );
  const transcriptBodies = new CountedBodies();
  const session = (await findSessionWithSegments(service.db, accountId, id))!;
  expect(session.segments).toEqual(expect.any(String));
  const wanted = { accountId, id, type, withWords: false, only };
  const text = await transcriptText(wanted, session, { db: service.db, transcriptBodies }, 'tag', () => signal);
  expect(text.match(/the same again/g)).toHaveLength(only?.length ?? count);
  expect(transcriptBodies.count).toBe(shared);
});
