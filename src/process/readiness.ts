/** Whether a process does its work, for `/readyz`. */
import { whyNoDatabase } from '../../db/connection/explained-faults.ts';
import { AudioStoreLost } from '../files/audio-store.ts';
import { inTime } from '../concurrency/in-time.ts';
import type { Foundation } from '../sessions/foundation.ts';
import type { Readiness } from '../ops/server.ts';

const pingTimeoutMs = 2_000;

/** @param notReadyReason a sentence while a role of this process starts, stops or waits for the operator */
export async function readinessOf(
  { db, audioStore, storeTrial }: Pick<Foundation, 'db' | 'audioStore' | 'storeTrial'>,
  notReadyReason: () => string | undefined,
  notice: () => string | undefined,
): Promise<Readiness> {
  // Asked again at the end: the process may have begun to stop while the database was asked.
  const problem =
    notReadyReason() ??
    (await inTime(whyNoDatabase(db), pingTimeoutMs, 'the database does not answer')) ??
    (await inTime(whyNoStore(audioStore), pingTimeoutMs, undefined)) ??
    notReadyReason();
  const noUploads = problem === undefined ? await storeTrial.whyNot(pingTimeoutMs) : undefined;
  const notices = [notice(), noUploads && `uploads can not be stored: ${noUploads}`].filter(isSaid);
  const noticed = notices.length > 0 ? notices.join('; ') : undefined;
  return { ...(problem !== undefined && { problem }), ...(noticed !== undefined && { notice: noticed }) };
}

const isSaid = (sentence: string | undefined): sentence is string => sentence !== undefined;

/** An object store that is away keeps nobody from reading transcripts. */
function whyNoStore(audioStore: Foundation['audioStore']): Promise<string | undefined> {
  return audioStore.open().then(
    () => undefined,
    (error: unknown) => (error instanceof AudioStoreLost ? error.message : undefined),
  );
}
