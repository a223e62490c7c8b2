/**
 * The auditor checks everything that must always hold, whatever happened. It changes nothing. Files and the rows that need them
 * are compared as both are now: audio that is missing, and files that no session needs.
 */
import { checkRows, maxExamples } from '../../db/audit/rules.ts';
import { transcriptionQueue } from '../queue/jobs.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { eachAudioOwner, findAudioNeeds } from '../../db/audit/audio.ts';
import { findSessionRow } from '../../db/sessions/sessions.ts';
import { byAccount, isId } from '../files/audio-store.ts';
import type { Check } from '../../db/audit/rules.ts';
import type { Db } from '../../db/connection/database.ts';
import type { AudioStore } from '../files/audio-store.ts';
import type { Spool } from '../files/spool.ts';
import type { WorkFolder } from '../files/work-folder.ts';

export type Audit = Awaited<ReturnType<typeof audit>>;

/**
 * The worker's sweeps list the audio once an hour, and remove what is half an hour old and still superfluous ten minutes
 * later. So a file of two hours is late.
 */
export const usualGrace: Grace = { sweptWithinMs: 2 * 60 * 60 * 1000, removedWithinMs: 5_000 };

/**
 * Checks files and rows. The rows are those of one moment. Files have no snapshot: one that looks wrong is looked at once more,
 * so that a service at work breaks no rule. The queue's tables must exist.
 *
 * @param onProgress gets the checked part of the rules, 0 to 1
 */
export async function audit(
  audited: Audited,
  { grace = usualGrace, onProgress }: { grace?: Grace; onProgress?: (done: number) => void } = {},
) {
  const needed = await checkNeededAudio(audited);
  const superfluous = await checkSuperfluousFiles(audited, grace);
  const rows = await checkRows(audited.db, transcriptionQueue, onProgress);
  const checks: (Check | FileCheck)[] = [...rows, needed, ...superfluous];
  return { sound: checks.every(({ breaches }) => breaches === 0), checks };
}

export interface Audited {
  db: Db;
  audioStore: AudioStore;
  spool: Spool;
  workFolder: WorkFolder;
  /** How far behind its primary `db` may be, in ms; 0 for a primary. */
  behindMs?: number;
}

/** A crash leaves orphaned files, which the worker's sweeps remove. Until then they are no breach. */
export interface Grace {
  /** How long a file may be an orphan. */
  sweptWithinMs: number;
  /**
   * How long a removal may take after the transaction that made the file superfluous, and a commit after the file is
   * written.
   */
  removedWithinMs: number;
}

export interface FileCheck extends Check {
  /** Orphans that are too young to be a breach. */
  awaitingSweep: number;
}

/** As many questions as an object store answers at once. */
const atOnce = 16;

export async function checkNeededAudio({ db, audioStore, behindMs = 0 }: Audited): Promise<Check> {
  const rule = 'A queued, processing or failed session has its audio';
  const check: Check = { id: 'needed_audio_is_there', rule, checked: 0, breaches: 0, examples: [] };
  const patience = { ms: behindMs };
  const owners = eachAudioOwner(db);
  const look = async () => {
    for await (const { account_id, id } of owners) {
      check.checked += 1;
      if (await audioStore.exists(account_id, id)) continue;
      // A row changes before its file is removed: a session that still needs the file after it was missed has lost it.
      const isNeeded = async () => (await findAudioNeeds(db, account_id, [id])).get(id)?.isNeeded === true;
      if (await staysSo(isNeeded, patience)) addBreach(check, id);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, look));
  return check;
}

function addBreach(check: Check, example: string): void {
  check.breaches += 1;
  if (check.examples.length < maxExamples) check.examples.push(example);
}

const askAgainMs = 50;

/** @param patience how long all questions together wait for another answer: a removal or a standby may be a little late */
async function staysSo(isSo: () => Promise<boolean>, patience: { ms: number }): Promise<boolean> {
  while (await isSo()) {
    if (patience.ms <= 0) return true;
    patience.ms -= askAgainMs;
    await sleep(askAgainMs);
  }
  return false;
}

export function checkSuperfluousFiles(audited: Audited, grace: Grace): Promise<FileCheck[]> {
  return Promise.all([
    judge('audio_is_needed', 'Stored audio is of a session that needs it', storedAudio(audited), grace),
    judge('upload_is_alive', 'A file that comes in is being written', uploads(audited), grace),
    judge('work_is_running', 'Decoded audio is of an attempt that runs', decodedAudio(audited), grace),
  ]);
}

interface SeenFile {
  name: string;
  /** How long it has been an orphan, in ms; undefined: it is needed. */
  unneededMs: number | undefined;
  /** Whether it is still there and still an orphan. */
  isLeft: () => Promise<boolean>;
}

async function judge(id: string, rule: string, files: AsyncIterable<SeenFile>, grace: Grace): Promise<FileCheck> {
  const check: FileCheck = { id, rule, checked: 0, breaches: 0, examples: [], awaitingSweep: 0 };
  const patience = { ms: grace.removedWithinMs };
  for await (const { name, unneededMs, isLeft } of files) {
    check.checked += 1;
    if (unneededMs === undefined) continue;
    if (unneededMs < grace.sweptWithinMs) check.awaitingSweep += 1;
    else if (await staysSo(isLeft, patience)) addBreach(check, name);
  }
  return check;
}

const atATime = 1_000;

async function* storedAudio({ db, audioStore }: Audited): AsyncGenerator<SeenFile> {
  for await (const { accountId, files } of byAccount(audioStore.list(), atATime)) {
    const ids = files.map(({ name }) => name).filter(isId);
    const needs = await findAudioNeeds(db, accountId, ids);
    const isLeft = async (name: string) =>
      (await audioStore.exists(accountId, name)) &&
      !(isId(name) && (await findAudioNeeds(db, accountId, [name])).get(name)?.isNeeded);
    for (const { name, ageMs } of files) {
      const need = needs.get(name);
      const unneededMs = need?.isNeeded ? undefined : Math.min(ageMs, need?.unneededMs ?? Infinity);
      yield { name: `${accountId}/${name}`, unneededMs, isLeft: () => isLeft(name) };
    }
  }
}

async function* uploads({ spool }: Audited): AsyncGenerator<SeenFile> {
  for await (const { name, writtenAt } of spool.files())
    yield { name: `incoming/${name}`, unneededMs: Date.now() - writtenAt, isLeft: () => spool.has(name) };
}

async function* decodedAudio({ db, workFolder }: Audited): AsyncGenerator<SeenFile> {
  for await (const { name, writtenAt, attempt } of workFolder.files()) {
    const session = attempt && (await findSessionRow(db, attempt.accountId, attempt.sessionId));
    const isRunning = session?.status === 'processing' && session.attempt === attempt?.attempt;
    const unneededMs = isRunning ? undefined : Date.now() - writtenAt;
    yield { name, unneededMs, isLeft: () => workFolder.exists(name) };
  }
}
