/** What must hold after faults, when everything runs again and every client knows how its uploads ended. */
import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import { removeAbandonedUploads } from '../../src/files/spool.ts';
import { readConfig } from '../../src/config/config.ts';
import { createContext } from '../../src/process/context.ts';
import { createLog } from '../../src/ops/log.ts';
import { WorkFolder } from '../../src/files/work-folder.ts';
import { indexBacklog } from '../../src/worker/backlog.ts';
import { expectSound } from '../support/service/audit.ts';
import { removeWorkOfEndedAttempts } from '../../src/worker/sweeps.ts';
import { sweepLater } from '../support/service/later-sweeps.ts';
import { until } from '../support/until.ts';
import { commandOf, descendantsOf } from './processes.ts';
import { newOutcome, sendUntilDecided } from './uploads.ts';
import type { Db } from '../../db/connection/database.ts';
import type { TestAccount } from '../support/service/accounts.ts';
import type { Machine } from './machine.ts';
import type { Process } from './processes.ts';
import type { Outcome, Server } from './uploads.ts';

export interface Inspected {
  /** Processes of the service. */
  machines: Machine[];
  db: Db;
  server: Server;
  account: TestAccount;
  dataDir: string;
  /** What an operator sets for a command on the service's database and files. */
  environment: Record<string, string>;
}

const childrenGoneWithinMs = 30_000;
const sweepGraceMs = 61 * 60 * 1000;
/** One for all inspections: each log listens for the end of the process. */
const log = createLog({ logLevel: 'silent' });

/**
 * What is wrong: an upload lost, doubled, cut short or charged otherwise than once; a rule of the auditor broken; a
 * process or a file left, when it is old enough for the sweeps.
 *
 * @param begin of the uploads' names
 */
export async function inspect(service: Inspected, outcomes: readonly Outcome[], begin = ''): Promise<string[]> {
  const { machines, db, account, dataDir, environment } = service;
  const breaches = [...(await sendAgain(service.server, outcomes)), ...(await leftProcesses(machines))];
  const rows = await uploadRows(db, account.id, begin);
  breaches.push(...outcomes.flatMap((outcome) => breachesOf(outcome, rows)));
  await sweepAfterGrace(environment);
  await expectSound({ db, dataDir }).catch((error: Error) => breaches.push(error.message));
  return [...breaches, ...machines.flatMap(({ faults }) => faults.splice(0))];
}

/** A client that forgot what it was told asks again with the same key, and is told the same. */
async function sendAgain(server: Server, outcomes: readonly Outcome[]): Promise<string[]> {
  const accepted = outcomes.filter(({ answers }) => answers.length > 0);
  const again = accepted.map(async ({ upload, answers: [before] }) => {
    const forgetful = newOutcome(upload);
    await sendUntilDecided(server, forgetful, AbortSignal.timeout(60_000));
    const [now] = forgetful.answers;
    const isSame = now?.isReplay === true && now.sessionId === before!.sessionId && now.jobId === before!.jobId;
    return isSame ? [] : [`${upload.name} sent again got ${JSON.stringify(now)} instead of ${JSON.stringify(before)}`];
  });
  return (await Promise.all(again)).flat();
}

/** Children of attempts and uploads, when nothing is under way any more. A recognizer may keep one with its model. */
async function leftProcesses(machines: readonly Machine[]): Promise<string[]> {
  const keepsModel = (child: Process) => commandOf(child).includes('/src/recognizers/');
  const left = () => machines.flatMap(({ pid }) => descendantsOf(pid)).filter((child) => !keepsModel(child));
  return until(left, (processes) => processes.length === 0, childrenGoneWithinMs).then(
    () => [],
    () => left().map(({ name, pid }) => `${name} (${pid}) runs on for nobody`),
  );
}

/** The service's own sweeps, as they will be when what nobody needs is old enough for them. */
async function sweepAfterGrace(environment: Record<string, string>): Promise<void> {
  const context = await createContext(readConfig(environment), log, 'api');
  try {
    const workFolder = new WorkFolder(environment['DATA_DIR']!);
    const stopping = new AbortController().signal;
    await sweepLater({ ...context, stopping }, sweepGraceMs);
    await removeWorkOfEndedAttempts({ ...context, workFolder });
    await indexBacklog({ ...context, stopping });
    const met = await removeAbandonedUploads(context.spool, context.log, new Map(), 0);
    await removeAbandonedUploads(context.spool, context.log, met, sweepGraceMs);
  } finally {
    await context.close();
  }
}

/** What the database holds of an upload, whose Idempotency-Key is its title here. */
interface UploadRow {
  title: string;
  id: string;
  status: string;
  /** Of a completed one. */
  durationMs: number | null;
  isRecorded: boolean;
  charges: number[];
}

async function uploadRows(db: Db, accountId: string, begin: string): Promise<UploadRow[]> {
  const { rows } = await sql<UploadRow>`
    select s.title, s.id, s.status, case s.status when 'completed' then s.duration_ms end as "durationMs",
      exists (select from idempotency i where i.account_id = s.account_id and i.key = s.title and i.session_id = s.id)
        as "isRecorded",
      array(select amount_ms::float8 from ledger l where l.account_id = s.account_id and l.session_id = s.id) as charges
    from sessions s where s.account_id = ${accountId} and s.title like ${`${begin}%`}`.execute(db);
  return rows;
}

const endings = { words: 'completed', silence: 'completed', failure: 'failed', refusal: 'refused' };

/** What its client was told and what the database holds, next to what has to be. */
function breachesOf({ upload: { name, clip }, answers, final, faults }: Outcome, rows: readonly UploadRow[]): string[] {
  const [told, hasWords] = [endings[clip.ending], clip.ending === 'words'];
  const durationMs = told === 'completed' ? clip.durationMs : null;
  const charges = hasWords ? [-clip.durationMs] : [];
  const row = { title: name, id: answers[0]?.sessionId, status: told, durationMs, isRecorded: true, charges };
  const wanted = { told, hasWords, rows: told === 'refused' ? [] : [row] };
  const own = rows.filter(({ title }) => title === name);
  const found = { told: final?.status, hasWords: (final?.segments ?? 0) > 0, rows: own };
  if (isDeepStrictEqual(found, wanted)) return faults;
  return [...faults, `${name}: ${JSON.stringify({ ...found, final })} instead of ${JSON.stringify(wanted)}`];
}
