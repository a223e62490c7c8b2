/** The greedy account in a thread of its own: what it has to do must not be measured as what others wait for. */
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { formOf } from './upload-client.ts';
import { ways } from './fairness-ways.ts';
import type { Answers, Greed, WayName } from './fairness-ways.ts';

export interface Order extends Omit<Greed, 'forms' | 'signal'> {
  way: WayName;
  /** Files, by what they hold. */
  files: Record<keyof Greed['forms'], string>;
}

export interface Greedy {
  /** Ends it, and tells what it was answered. */
  end(): Promise<Answers>;
}

/** Begins to be greedy; resolves when the first of its requests are on their way. */
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
