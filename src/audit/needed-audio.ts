/** Sessions that need audio have it: their rows and a list of all audio are compared, both in the same order. */
import { setTimeout as sleep } from 'node:timers/promises';
import { findAudioNeeds, listSessionsWithAudio } from '../../db/audit/audio.ts';
import { maxExamples } from '../../db/audit/rule.ts';
import type { AudioOwner } from '../../db/audit/audio.ts';
import type { Check } from '../../db/audit/rule.ts';
import type { Db } from '../../db/connection/database.ts';
import type { AudioStore, StoredAudio } from '../files/audio-store.ts';
import type { Audited } from './audited.ts';

const atATime = 1_000;
const askAgainMs = 200;

export async function checkNeededAudio({ db, audioStore, behindMs = 0 }: Audited): Promise<Check[]> {
  const none = { checked: 0, breaches: 0 };
  const unfinished: Check = {
    ...{ id: 'unfinished_has_audio', rule: 'A queued or processing session has its audio' },
    ...{ ...none, examples: [] },
  };
  const failed: Check = {
    ...{ id: 'failed_keeps_audio', rule: 'A failed session has its audio until it is removed' },
    ...{ ...none, examples: [] },
  };
  const listed = new Listed(audioStore);
  const patience = { ms: behindMs };
  let last: AudioOwner | undefined;
  do {
    const sessions = await listSessionsWithAudio(db, ['queued', 'processing', 'failed'], last, atATime);
    for (const { account_id, id, status } of sessions) {
      const check = status === 'failed' ? failed : unfinished;
      check.checked += 1;
      // The list may have passed its place before it was uploaded.
      if ((await listed.has(account_id, id)) || (await audioStore.exists(account_id, id))) continue;
      if (!(await isStillNeeded(db, { account_id, id }, patience))) continue;
      check.breaches += 1;
      if (check.examples.length < maxExamples) check.examples.push(id);
    }
    last = sessions.length < atATime ? undefined : sessions.at(-1);
  } while (last !== undefined);
  await listed.end();
  return [unfinished, failed];
}

/**
 * A row changes before its file is removed. So a session that still needs the file after it was missed has lost it. A
 * standby may know of the change a little later.
 * @param patience how long all sessions together are waited for
 */
async function isStillNeeded(db: Db, { account_id, id }: AudioOwner, patience: { ms: number }): Promise<boolean> {
  for (;;) {
    if (!(await findAudioNeeds(db, account_id, [id])).get(id)?.isNeeded) return false;
    if (patience.ms <= 0) return true;
    patience.ms -= askAgainMs;
    await sleep(askAgainMs);
  }
}

/** Everything in a store, asked for in its order: by account and session. */
class Listed {
  readonly #store: AudioStore;
  #list: AsyncGenerator<StoredAudio> | undefined;
  #next: StoredAudio | undefined;

  constructor(store: AudioStore) {
    this.#store = store;
  }

  /** Ask in the order of accounts and sessions. */
  async has(accountId: string, sessionId: string): Promise<boolean> {
    if (this.#list === undefined) {
      this.#list = this.#store.list();
      await this.#go();
    }
    const wanted = `${accountId}/${sessionId}`;
    while (this.#next !== undefined && placeOf(this.#next) < wanted) await this.#go();
    return this.#next !== undefined && placeOf(this.#next) === wanted;
  }

  async end(): Promise<void> {
    await this.#list?.return(undefined);
  }

  async #go(): Promise<void> {
    const step = await this.#list!.next();
    this.#next = step.done === true ? undefined : step.value;
  }
}

const placeOf = ({ accountId, name }: StoredAudio) => `${accountId}/${name}`;
