/** What most requests read: each gets its own answer, and never another account's. */
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { findQuota } from '../../../../db/accounts/accounts.ts';
import { findKeyOwner } from '../../../../db/accounts/api-keys.ts';
import { openDatabase } from '../../../../db/connection/database.ts';
import { findIdempotencyRecord } from '../../../../db/sessions/idempotency.ts';
import { findSegments, versionOf } from '../../../../db/sessions/transcripts.ts';
import { Allowances } from '../../../../src/api/access/allowances.ts';
import { SessionReads } from '../../../../src/api/reads/session-reads.ts';
import { makeAccount } from '../../../support/service/accounts.ts';
import { useService } from '../../../support/service/use-service.ts';
import { makeSession, queueSession, twoSegments } from '../../../support/service/sessions.ts';
import type { TestAccount } from '../../../support/service/accounts.ts';
import type { TestSession } from '../../../support/service/sessions.ts';

const service = await useService();
let owners: { account: TestAccount; sessions: TestSession[] }[];
beforeAll(async () => {
  owners = [];
  for (let owner = 0; owner < 3; owner += 1) {
    const account = await makeAccount(service.db);
    const sessions: TestSession[] = [];
    for (const minute of [1, 2, 3]) {
      const createdAt = `2026-11-20T09:0${minute}:00Z`;
      sessions.unshift(await queueSession(service.db, account.id, { title: `${owner}-${minute}`, createdAt }));
    }
    owners.push({ account, sessions });
  }
});

const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);

test('pages with other bounds in the same moment → each as it was asked for', async () => {
  const [{ account, sessions }] = owners as [(typeof owners)[0]];
  const [third, second, first] = idsOf(sessions);
  const reads = new SessionReads(service.db);
  const accountId = account.id;
  const [noon, two] = ['2026-11-20T12:00:00Z', '2026-11-20T09:02:00Z'];
  const pages = await Promise.all([
    reads.page({ accountId, limit: 1 }),
    reads.page({ accountId, limit: 2 }),
    reads.page({ accountId, limit: 9, after: { createdAt: two, id: second! } }),
    reads.page({ accountId, limit: 9, createdAfter: two }),
    reads.page({ accountId, limit: 9, createdBefore: two }),
    reads.page({ accountId, limit: 9, createdAfter: noon }),
    reads.page({ accountId, limit: 9, statuses: ['queued', 'failed'], createdBefore: two }),
    reads.page({ accountId: owners[1]!.account.id, limit: 9, after: { createdAt: two, id: second! } }),
  ]);
  expect(pages.slice(0, 7).map(idsOf)).toEqual([
    [third],
    [third, second],
    [first],
    [third, second],
    [first],
    [],
    [first],
  ]);
  const ofTheOther = idsOf(owners[1]!.sessions);
  expect(idsOf(pages[7]!).every((id) => ofTheOther.includes(id))).toBe(true);
});

test("sessions and segments in the same moment, another account's among them → undefined for who doesn't own them", async () => {
  const [mine, theirs] = owners as [(typeof owners)[0], (typeof owners)[0]];
  const done = await makeSession(service.db, mine.account.id, { status: 'completed' });
  const reads = new SessionReads(service.db);
  const answers = await Promise.all([
    reads.find(mine.account.id, mine.sessions[0]!.id),
    reads.find(theirs.account.id, mine.sessions[0]!.id),
    reads.find(theirs.account.id, theirs.sessions[1]!.id),
    findSegments(service.db, theirs.account.id, done.id),
    findSegments(service.db, mine.account.id, done.id),
    findSegments(service.db, mine.account.id, mine.sessions[0]!.id),
  ]);
  expect(answers.slice(0, 3).map((session) => (session as { title: string } | undefined)?.title)).toEqual([
    ...['0-3', undefined, '1-2'],
  ]);
  expect(answers[3]).toBeUndefined();
  expect(JSON.parse(answers[4] as string)[0].text).toBe('good morning');
  expect(answers[5]).toBeUndefined();
});

test('sessions with their segments → those of the owner; not those so long that they are better read alone', async () => {
  const [mine, theirs] = owners as [(typeof owners)[0], (typeof owners)[0]];
  const short = await makeSession(service.db, mine.account.id, { status: 'completed' });
  // Not to be compressed.
  const text = randomBytes(150_000).toString('base64');
  const segments = JSON.stringify([{ index: 0, startMs: 0, endMs: 10, text }]);
  const long = await makeSession(service.db, mine.account.id, {
    status: 'completed',
    transcript: { ...twoSegments, segments, version: versionOf(twoSegments.durationMs, segments, twoSegments.words) },
  });
  const reads = new SessionReads(service.db);
  const [found, ofNobody, unfinished, tooLong] = await Promise.all([
    reads.findWithSegments(mine.account.id, short.id),
    reads.findWithSegments(theirs.account.id, short.id),
    reads.findWithSegments(mine.account.id, mine.sessions[0]!.id),
    reads.findWithSegments(mine.account.id, long.id),
  ]);
  expect(found).toMatchObject({ id: short.id, status: 'completed', segments: twoSegments.segments });
  expect(ofNobody).toBeUndefined();
  expect(unfinished).toMatchObject({ status: 'queued', segments: null });
  expect(tooLong).toMatchObject({ id: long.id, status: 'completed', segments: null });

  const headers = { Authorization: `Bearer ${mine.account.key}` };
  const answer = await fetch(`${service.url}/v1/sessions/${long.id}/transcript`, { headers });
  expect(((await answer.json()) as { segments: { text: string }[] }).segments[0]!.text).toBe(text);
});

test('the same statements again and again on one connection → PostgreSQL soon plans none of them anew', async () => {
  const { db, close } = openDatabase(service.databaseUrl, () => undefined, { maxConnections: 1 });
  try {
    const [reads, counts] = [new SessionReads(db), new Allowances(db)];
    const [{ account, sessions }] = owners as [(typeof owners)[0]];
    const id = sessions[0]!.id;
    const statuses = ['queued', 'processing', 'completed', 'failed'] as const;
    for (let time = 0; time < 8; time += 1) {
      await Promise.all([
        counts.count(account.id, 1_000),
        reads.find(account.id, id),
        reads.findWithSegments(account.id, id),
        findQuota(db, account.id),
        findKeyOwner(db, Buffer.of(1)),
        findIdempotencyRecord(db, account.id, 'key'),
        reads.page({ accountId: account.id, limit: 21 }),
        ...statuses.map((_, last) =>
          reads.page({ accountId: account.id, limit: 21, statuses: statuses.slice(0, last + 1) }),
        ),
      ]);
    }
    const { rows } = await sql<{ name: string; custom_plans: number }>`
      select name, custom_plans from pg_prepared_statements`.execute(db);
    expect(rows).toHaveLength(11);
    for (const { custom_plans: plans } of rows) expect(plans).toBe(5);
  } finally {
    await close();
  }
});
