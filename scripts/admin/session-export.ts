/** `sessions export`: what an account's sessions say, as a zip. However much that is, one transcript is held in memory. */
import { createWriteStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { Readable, Writable } from 'node:stream';
import { TextReader, ZipWriter } from '@zip.js/zip.js';
import { rfc3339 } from '../../db/connection/values.ts';
import { listSessions } from '../../db/sessions/pages.ts';
import { findChosenSegments } from '../../db/sessions/transcripts.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import { plainText } from '../../src/captions/formats.ts';
import { toSession } from '../../src/sessions/view.ts';
import { getAccount, refuseDeletedAccount } from './account-lookup.ts';
import { readAtOneMoment } from './admin-context.ts';
import { csvLine } from '../terminal/csv.ts';
import { Refusal } from '../terminal/refusal.ts';
import { count } from '../terminal/table.ts';
import type { Trx } from '../../db/connection/database.ts';
import type { ReadableSession } from '../../db/sessions/readable.ts';
import type { Caption } from '../../src/captions/formats.ts';
import type { AdminContext } from './admin-context.ts';
import type { Report } from './command.ts';

/**
 * Writes `sessions.csv` and, of each completed session, `transcripts/ID.json` and `transcripts/ID.txt`: all of one moment.
 *
 * @throws {Refusal} when the account is unknown or deleted, or the file is there already
 */
export async function exportSessions(admin: AdminContext, id: string, file: string): Promise<Report> {
  if ((await getAccount(admin.db, id)).deleted_at !== null) refuseDeletedAccount(id);
  const output = await newFile(file);
  try {
    // Before anything is read: an export that is broken off has been one, too.
    await inTransaction(admin.db, (trx) => admin.record(trx, { act: 'sessions export', accountId: id }));
    const zip = new ZipWriter(Writable.toWeb(output), { useWebWorkers: false });
    const exported = await readAtOneMoment(admin, (snapshot) => addSessions(zip, snapshot, id));
    await zip.close();
    const { size } = await stat(file);
    return {
      json: { id, file, bytes: size, ...exported },
      text: `${file}: ${count(exported.sessions, 'session')}, ${count(exported.transcripts, 'transcript')}, ${size} bytes.`,
    };
  } catch (error) {
    output.destroy();
    await rm(file, { force: true });
    throw error;
  }
}

/** Only for its owner to read: it holds what a customer has said. */
async function newFile(file: string): Promise<Writable> {
  const output = createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true });
  const opened = Promise.withResolvers<void>();
  output.once('open', () => opened.resolve()).once('error', opened.reject);
  await opened.promise.catch((error: NodeJS.ErrnoException) => {
    throw new Refusal(`${file} can not be made (${error.code}): choose a new name in a folder that you may write to.`);
  });
  return output;
}

async function addSessions(
  zip: ZipWriter<unknown>,
  snapshot: Trx,
  accountId: string,
): Promise<{ sessions: number; transcripts: number }> {
  let transcripts = 0;
  for await (const session of sessionsOf(snapshot, accountId)) {
    if (session.status !== 'completed') continue;
    const segments = (await findChosenSegments(snapshot, accountId, session.id, { withWords: true }))!;
    const lastModDate = new Date(rfc3339(session.created_at));
    const head = JSON.stringify({ session: toSession(session) });
    const name = `transcripts/${session.id}`;
    await zip.add(`${name}.json`, new TextReader(`${head.slice(0, -1)},"segments":${segments}}\n`), { lastModDate });
    const text = [...plainText(JSON.parse(segments) as Caption[])].join('');
    await zip.add(`${name}.txt`, new TextReader(text), { lastModDate });
    transcripts += 1;
  }
  let sessions = -1;
  const counted = (async function* () {
    for await (const line of indexOf(snapshot, accountId)) {
      sessions += 1;
      yield Buffer.from(line);
    }
  })();
  await zip.add('sessions.csv', Readable.toWeb(Readable.from(counted)) as ReadableStream<Uint8Array>);
  return { sessions, transcripts };
}

async function* indexOf(snapshot: Trx, accountId: string): AsyncGenerator<string> {
  const columns = ['session', 'status', 'created_at', 'title', 'reference', 'language', 'duration_ms', 'charged_ms'];
  yield csvLine(columns);
  for await (const session of sessionsOf(snapshot, accountId)) {
    const { id, status, created_at, title, reference, language, duration_ms, charged_ms } = session;
    yield csvLine([id, status, rfc3339(created_at), title, reference, language, duration_ms, charged_ms]);
  }
}

const atATime = 100;

async function* sessionsOf(snapshot: Trx, accountId: string): AsyncGenerator<ReadableSession> {
  let last: ReadableSession | undefined;
  do {
    const after = last && { createdAt: rfc3339(last.created_at), id: last.id };
    const page = await listSessions(snapshot, { accountId, limit: atATime, after });
    yield* page;
    last = page.length < atATime ? undefined : page.at(-1);
  } while (last !== undefined);
}
