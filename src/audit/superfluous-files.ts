/** Files that nobody needs: stored audio, uploads, decoded audio. Each is compared with the rows as they stand now. */
import { findAudioNeeds } from '../../db/audit/audio.ts';
import { findSessionRow } from '../../db/sessions/sessions.ts';
import { byAccount, isId } from '../files/audio-store.ts';
import { FileTally } from './file-tally.ts';
import type { Db } from '../../db/connection/database.ts';
import type { Attempt } from '../../db/sessions/attempts.ts';
import type { Audited } from './audited.ts';
import type { FileCheck, Grace } from './file-tally.ts';

const atATime = 1_000;

export async function checkSuperfluousFiles(audited: Audited, grace: Grace): Promise<FileCheck[]> {
  const tallies = {
    audio: new FileTally('audio_is_needed', 'Stored audio is of a session that needs it', grace),
    uploads: new FileTally('upload_is_alive', 'A file that comes in is being written', grace),
    work: new FileTally('work_is_running', 'Decoded audio is of an attempt that runs', grace),
  };
  await lookAtAudio(audited, tallies.audio);
  await lookAtUploads(audited, tallies.uploads);
  await lookAtWork(audited, tallies.work);
  return Promise.all([tallies.audio.settle(), tallies.uploads.settle(), tallies.work.settle()]);
}

async function lookAtAudio({ db, audioStore }: Audited, tally: FileTally): Promise<void> {
  for await (const { accountId, files } of byAccount(audioStore.list(), atATime)) {
    const ids = files.map(({ name }) => name).filter(isId);
    const needs = await findAudioNeeds(db, accountId, ids);
    const isLeft = async (name: string) =>
      (await audioStore.exists(accountId, name)) &&
      !(isId(name) && (await findAudioNeeds(db, accountId, [name])).get(name)?.isNeeded);
    for (const { name, ageMs } of files) {
      tally.count();
      const need = needs.get(name);
      if (need?.isNeeded) continue;
      const unneededMs = Math.min(ageMs, need?.unneededMs ?? Infinity);
      tally.unneeded(`${accountId}/${name}`, unneededMs, () => isLeft(name));
    }
  }
}

async function lookAtUploads({ spool }: Audited, tally: FileTally): Promise<void> {
  for await (const { name, writtenAt } of spool.files()) {
    tally.count();
    tally.unneeded(`incoming/${name}`, Date.now() - writtenAt, () => spool.has(name));
  }
}

async function lookAtWork({ db, workFolder }: Audited, tally: FileTally): Promise<void> {
  for await (const { name, writtenAt, attempt } of workFolder.files()) {
    tally.count();
    if (attempt !== undefined && (await isRunning(db, attempt))) continue;
    tally.unneeded(name, Date.now() - writtenAt, () => workFolder.exists(name));
  }
}

async function isRunning(db: Db, { accountId, sessionId, attempt }: Attempt): Promise<boolean> {
  const session = await findSessionRow(db, accountId, sessionId);
  return session?.status === 'processing' && session.attempt === attempt;
}
