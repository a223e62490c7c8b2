/** Sessions that need audio have it. */
import { findAudioNeeds, listSessionsWithAudio } from '../../db/audit/audio.ts';
import { maxExamples } from '../../db/audit/rule.ts';
import type { Check } from '../../db/audit/rule.ts';
import type { SessionStatus } from '../../db/schema.ts';
import type { Trx } from '../../db/database.ts';
import type { Audited } from './audited.ts';

const atATime = 1_000;

/** The snapshot says which sessions need audio. */
export async function checkNeededAudio(audited: Audited, snapshot: Trx): Promise<Check[]> {
  return [
    await checkAudioOf(
      { id: 'unfinished_has_audio', rule: 'A queued or processing session has its audio' },
      ['queued', 'processing'],
      audited,
      snapshot,
    ),
    await checkAudioOf(
      { id: 'failed_keeps_audio', rule: 'A failed session has its audio until it is removed' },
      ['failed'],
      audited,
      snapshot,
    ),
  ];
}

async function checkAudioOf(
  rule: Pick<Check, 'id' | 'rule'>,
  statuses: SessionStatus[],
  { db, audioStore }: Audited,
  snapshot: Trx,
): Promise<Check> {
  const check: Check = { ...rule, checked: 0, breaches: 0, examples: [] };
  let after: string | undefined;
  for (;;) {
    const sessions = await listSessionsWithAudio(snapshot, statuses, after, atATime);
    for (const { account_id, id } of sessions) {
      check.checked += 1;
      if (await audioStore.exists(account_id, id)) continue;
      // A row changes before its file is removed. So a session that still needs the file after it was missed has lost
      // it.
      if (!(await findAudioNeeds(db, account_id, [id])).get(id)?.isNeeded) continue;
      check.breaches += 1;
      if (check.examples.length < maxExamples) check.examples.push(id);
    }
    if (sessions.length < atATime) return check;
    after = sessions.at(-1)!.id;
  }
}
