import { randomUUIDv7 } from 'node:crypto';
import { sql } from 'kysely';
import {
  claimIfNotFinal,
  completeIfProcessing,
  replaceJobIfNotFinal,
  reportProgressIfProcessing,
  requeueIfProcessing,
  setReservationIfProcessing,
} from '../../../db/sessions/attempts.ts';
import { deleteSession, failIfNotFinal } from '../../../db/sessions/states.ts';
import { findSessionRow } from '../../../db/sessions/sessions.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { useDatabase } from '../../support/service/use-database.ts';
import { claimSession, finishSession, makeSession, queueSession } from '../../support/service/sessions.ts';
import type { Trx } from '../../../db/connection/database.ts';
import type { Attempt } from '../../../db/sessions/attempts.ts';
import type { TestSession } from '../../support/service/sessions.ts';

const database = await useDatabase();
let accountId: string;
beforeAll(async () => void (accountId = (await makeAccount(database.db)).id));

const row = ({ id }: TestSession) => findSessionRow(database.db, accountId, id);
const within = <T>(work: (trx: Trx) => Promise<T>) => inTransaction(database.db, work);
const result = { duration_ms: 7_100, charged_ms: 7_100, language: null, warnings: null, transcript_version: 'v' };

const requeue = (attempt: Attempt, successor = randomUUIDv7()) =>
  within((trx) =>
    requeueIfProcessing(trx, attempt, successor, { attempts: 1, infrastructureRetries: 0, errorCode: 'timed_out' }),
  );

/** Every change that an attempt may make, and whether it happened. */
const changesOfAttempt: [string, (attempt: Attempt) => Promise<boolean>][] = [
  ['completeIfProcessing', (attempt) => within((trx) => completeIfProcessing(trx, attempt, result))],
  ['requeueIfProcessing', async (attempt) => (await requeue(attempt)) !== undefined],
  ['setReservationIfProcessing', (attempt) => within((trx) => setReservationIfProcessing(trx, attempt, 5))],
  [
    'reportProgressIfProcessing',
    async (attempt) => {
      const read = () => findSessionRow(database.db, attempt.accountId, attempt.sessionId);
      const before = await read();
      await reportProgressIfProcessing(database.db, new Map([[attempt, 42]]));
      return (await read())?.progress !== before?.progress;
    },
  ],
];

describe.each(changesOfAttempt)('%s', (_, change) => {
  let session: TestSession;
  let attempt: Attempt;
  beforeEach(async () => {
    session = await queueSession(database.db, accountId, { reservedMs: 10 });
    attempt = await claimSession(database.db, session);
  });

  test('of the attempt that runs → done', async () => {
    expect(await change(attempt)).toBe(true);
  });

  test('of an attempt whose session another one claimed → nothing changed', async () => {
    await claimSession(database.db, session);
    const before = await row(session);
    expect(await change(attempt)).toBe(false);
    expect(await row(session)).toEqual(before);
  });

  test.each(['queued', 'completed', 'failed', 'deleted'])(
    'of a session that is %s → nothing changed',
    async (state) => {
      if (state === 'queued') await requeue(attempt);
      if (state === 'completed') await finishSession(database.db, session, attempt);
      if (state === 'failed') await within((trx) => failIfNotFinal(trx, accountId, session.id, 'canceled'));
      if (state === 'deleted') await within((trx) => deleteSession(trx, accountId, session.id));
      const before = await row(session);
      expect(await change(attempt)).toBe(false);
      expect(await row(session)).toEqual(before);
    },
  );

  test('in the name of another account → nothing changed', async () => {
    const { id } = await makeAccount(database.db);
    const before = await row(session);
    expect(await change({ ...attempt, accountId: id })).toBe(false);
    expect(await row(session)).toEqual(before);
  });
});

test('progress of several attempts → one statement; a session that is being changed is left out and not waited for', async () => {
  const sessions = await Promise.all([1, 2, 3].map(() => queueSession(database.db, accountId, { reservedMs: 10 })));
  const attempts = await Promise.all(sessions.map((session) => claimSession(database.db, session)));
  await within(async (trx) => {
    await setReservationIfProcessing(trx, attempts[1]!, 5);
    await reportProgressIfProcessing(database.db, new Map(attempts.map((attempt, i) => [attempt, 10 * i])));
  });
  const rows = await Promise.all(sessions.map(row));
  expect(rows.map((found) => found!.progress)).toEqual([0, null, 20]);
});

test('claims → each counts up the attempt and spends one, until none is left', async () => {
  const session = await queueSession(database.db, accountId, { attempts: 2, reservedMs: 10 });
  let jobId = session.queueJobId;
  const claim = () => claimIfNotFinal(database.db, accountId, session.id, jobId);
  const fail = async (attempt: number) => {
    jobId = (await requeue({ accountId, sessionId: session.id, attempt }))!.queue_job_id;
  };
  const limits = {
    max_audio_ms: 14_400_000,
    reserved_ms: 10,
    measured_ms: null,
    separate_channels: false,
    language: null,
    speakers: null,
    keyterms: null,
    traceparent: null,
    audio_bytes: null,
    seconds_since_upload: expect.any(Number),
  };
  expect(await claim()).toEqual({ attempt: 1, infrastructure_retries: 0, title: 'Board meeting', ...limits });
  await fail(1);
  expect(await claim()).toMatchObject({ attempt: 2 });
  await fail(2);
  expect(await claim()).toBeUndefined();
  expect(await row(session)).toMatchObject({
    attempt: 2,
    attempts_left: 0,
    infrastructure_retries: 0,
    status: 'queued',
  });
});

test('attempts whose workers are gone → given back at the next claim, five times', async () => {
  const session = await queueSession(database.db, accountId, { attempts: 2 });
  const left = async () => {
    const claim = await claimIfNotFinal(database.db, accountId, session.id, session.queueJobId);
    return claim && (await row(session))!.attempts_left;
  };
  const seen: (number | undefined)[] = [];
  for (let i = 0; i < 8; i += 1) seen.push(await left());
  expect(seen).toEqual([1, 1, 1, 1, 1, 1, 0, undefined]);
  expect(await row(session)).toMatchObject({ attempt: 7, infrastructure_retries: 5, status: 'processing' });
});

test('a job whose last attempt lost its worker → the job that replaces it has this attempt, five times', async () => {
  const session = await queueSession(database.db, accountId, { attempts: 1 });
  let jobId = session.queueJobId;
  const left: number[] = [];
  for (let i = 0; i < 6; i += 1) {
    await claimIfNotFinal(database.db, accountId, session.id, jobId);
    const [before, next] = [jobId, randomUUIDv7()];
    left.push((await within((trx) => replaceJobIfNotFinal(trx, accountId, session.id, before, next)))!.attempts_left);
    jobId = next;
  }
  expect(left).toEqual([1, 1, 1, 1, 1, 0]);
});

test('ten claims at once, of which three are left → three, each with a number of its own', async () => {
  const session = await queueSession(database.db, accountId, { attempts: 3 });
  await sql`update sessions set infrastructure_retries = 5 where id = ${session.id}`.execute(database.db);
  const claims = await Promise.all(
    Array.from({ length: 10 }, () => claimIfNotFinal(database.db, accountId, session.id, session.queueJobId)),
  );
  expect(claims.flatMap((claim) => (claim === undefined ? [] : [claim.attempt])).toSorted()).toEqual([1, 2, 3]);
});

test.each(['completed', 'failed'] as const)('a %s session → no claim, no failure, no other job', async (status) => {
  const session = await makeSession(database.db, accountId, { status, reservedMs: 10 });
  const before = await row(session);
  expect(await claimIfNotFinal(database.db, accountId, session.id, session.queueJobId)).toBeUndefined();
  expect(await within((trx) => failIfNotFinal(trx, accountId, session.id, 'canceled'))).toBeUndefined();
  const replace = (trx: Trx) => replaceJobIfNotFinal(trx, accountId, session.id, session.queueJobId, randomUUIDv7());
  expect(await within(replace)).toBeUndefined();
  expect(await row(session)).toEqual(before);
});

test('a job that is not the session’s own any more → no claim, and no other job in its place', async () => {
  const session = await queueSession(database.db, accountId);
  const [former, next] = [randomUUIDv7(), randomUUIDv7()];
  const before = await row(session);
  expect(await claimIfNotFinal(database.db, accountId, session.id, former)).toBeUndefined();
  const replace = (trx: Trx) => replaceJobIfNotFinal(trx, accountId, session.id, former, next);
  expect(await within(replace)).toBeUndefined();
  expect(await row(session)).toEqual(before);
});

test('an attempt that does not count → given back, and only the successor job may claim', async () => {
  const session = await queueSession(database.db, accountId, { attempts: 1 });
  const attempt = await claimSession(database.db, session);
  const successor = randomUUIDv7();
  const spent = { attempts: 0, infrastructureRetries: 1 };
  const queued = await within((trx) => requeueIfProcessing(trx, attempt, successor, spent));
  expect(queued).toMatchObject({ id: session.id, queue_job_id: successor, attempts_left: 1 });
  expect(await row(session)).toMatchObject({
    ...{ status: 'queued', job_id: session.jobId, queue_job_id: successor, infrastructure_retries: 1 },
  });
  expect(await claimIfNotFinal(database.db, accountId, session.id, session.queueJobId)).toBeUndefined();
  expect(await claimIfNotFinal(database.db, accountId, session.id, successor)).toMatchObject({ attempt: 2 });
});
