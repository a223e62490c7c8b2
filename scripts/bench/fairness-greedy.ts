/** Runs the greedy account in a thread of its own. Otherwise its own work would be measured as delay of others. */
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { formOf } from './upload-client.ts';
import { ways } from './fairness-ways.ts';
import type { Answers, Greed, WayName } from './fairness-ways.ts';

export interface Order extends Omit<Greed, 'forms' | 'signal'> {
  way: WayName;
  /** Files, by their contents. */
  files: Record<keyof Greed['forms'], string>;
}

export interface Greedy {
  /** Ends it. Resolves to the answers that it got. */
  end(): Promise<Answers>;
}

/** Starts the greedy account. Resolves when its first requests were sent. */
export async function beGreedy(order: Order): Promise<Greedy> {
  const thread = new Worker(new URL(import.meta.url), { workerData: order });
  const failed = new Promise<never>((_, reject) => thread.once('error', reject));
  const message = <Message>() =>
    Promise.race([failed, new Promise<Message>((resolve) => thread.once('message', resolve))]);
  failed.catch(() => undefined);
  await message();
  return {
    async end() {
      thread.postMessage('end');
      const answers = await message<Answers>();
      await thread.terminate();
      return answers;
    },
  };
}

if (!isMainThread) {
  const { files, ...order } = workerData as Order;
  const [wav, m4a, amr, noise] = await Promise.all([files.wav, files.m4a, files.amr, files.noise].map(formOf));
  const ending = new AbortController();
  parentPort!.once('message', () => ending.abort());
  const answers: Answers = {};
  const forms = { wav: wav!, m4a: m4a!, amr: amr!, noise: noise! };
  const running = ways[order.way].run({ ...order, forms, signal: ending.signal }, answers);
  parentPort!.postMessage('begun');
  await running;
  parentPort!.postMessage(answers);
}
