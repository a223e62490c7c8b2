/** How long an upload waits for an idle worker, its client for the answer, and a backlog between two jobs. */
import { send, untilAnswered } from './session-client.ts';
import type { Setting } from './bench.ts';
import type { Client } from './session-client.ts';
import type { SessionEvents } from './session-events.ts';

/** All in ms. */
export interface Wait {
  /** From the client's 202 to the commit of the claim. Negative when the worker was faster than the answer. */
  accepted: number;
  /** From the commit of the upload to the commit of the claim. */
  queued: number;
  /** From the commit of the transaction that stores the transcript to the client's answer. */
  stored: number;
}

/** Uploads one clip after the other to an idle worker and waits for each. @returns round by round */
export async function measurePickup(setting: Setting, client: Client, events: SessionEvents): Promise<Wait[][]> {
  const rounds = setting.sized({ full: 5, quick: 3, tiny: 1 });
  const perRound = setting.sized({ full: 20, quick: 5, tiny: 1 });
  const measured: Wait[][] = [];
  for (let round = 0; round < rounds; round += 1) {
    setting.say(`Measuring: one upload at a time, round ${round + 1} of ${rounds} …`);
    const waits: Wait[] = [];
    while (waits.length < perRound) waits.push(await one(client, events));
    measured.push(waits);
  }
  return measured;
}

async function one(client: Client, events: SessionEvents): Promise<Wait> {
  client.signal?.throwIfAborted();
  const { id, acceptedAt } = await send(client);
  const answeredAt = await untilAnswered(client, id);
  const at = async (status: string) => (await events.find((event) => event.id === id && event.status === status)).at;
  const processing = await at('processing');
  return {
    accepted: processing - acceptedAt,
    queued: processing - (await at('queued')),
    stored: answeredAt - (await at('completed')),
  };
}

/**
 * Waits for a backlog that was there when the worker started. Each job that ends makes room for the next one.
 * @returns ms from the end of each job to the beginning of the next one in its place
 */
export async function pausesOf(
  client: Client,
  { all, find }: SessionEvents,
  ids: readonly string[],
  jobsAtOnce: number,
): Promise<number[]> {
  await Promise.all(ids.map((id) => untilAnswered(client, id)));
  for (const id of ids) await find((event) => event.id === id && event.status === 'completed');
  const timesOf = (status: string) => all.filter((event) => event.status === status).map(({ at }) => at);
  const [began, ended] = [timesOf('processing'), timesOf('completed')];
  return began.slice(jobsAtOnce).map((at, index) => at - ended[index]!);
}
