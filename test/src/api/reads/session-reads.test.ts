/** What most requests read: each gets its own answer, and never another account's. */
import { randomBytes } from 'node:crypto';
import { versionOf } from '../../../../db/sessions/transcripts.ts';
import { SessionReads } from '../../../../src/api/reads/session-reads.ts';
import { useAccount, useService } from '../../../support/service/use-service.ts';
import { makeSession, queueSession, twoSegments } from '../../../support/service/sessions.ts';

const service = await useService();
const [mine, theirs] = [await useAccount(service), await useAccount(service)];

test('sessions with their segments → those of the owner; not those so long that they are better read alone', async () => {
  const queued = await queueSession(service.db, mine.id);
  const short = await makeSession(service.db, mine.id, { status: 'completed' });
  // Not to be compressed.
  const text = randomBytes(150_000).toString('base64');
  const segments = JSON.stringify([{ index: 0, startMs: 0, endMs: 10, text }]);
  const long = await makeSession(service.db, mine.id, {
    status: 'completed',
    transcript: { ...twoSegments, segments, version: versionOf(twoSegments.durationMs, segments, twoSegments.words) },
  });
  const reads = new SessionReads(service.db);
  const [found, ofNobody, unfinished, tooLong] = await Promise.all([
    reads.findWithSegments(mine.id, short.id),
    reads.findWithSegments(theirs.id, short.id),
    reads.findWithSegments(mine.id, queued.id),
    reads.findWithSegments(mine.id, long.id),
  ]);
  expect(found).toMatchObject({ id: short.id, status: 'completed', segments: twoSegments.segments });
  expect(ofNobody).toBeUndefined();
  expect(unfinished).toMatchObject({ status: 'queued', segments: null });
  expect(tooLong).toMatchObject({ id: long.id, status: 'completed', segments: null });

  const headers = { Authorization: `Bearer ${mine.key}` };
  const answer = await fetch(`${service.url}/v1/sessions/${long.id}/transcript`, { headers });
  expect(((await answer.json()) as { segments: { text: string }[] }).segments[0]!.text).toBe(text);
});
