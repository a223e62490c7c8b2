/** In which order the jobs of several accounts are taken, whatever is uploaded and ends when. */
import fc from 'fast-check';
import { randomUUIDv7 } from 'node:crypto';
import { inAccountTransaction } from '../../../db/accounts/account-transaction.ts';
import { claimIfNotFinal } from '../../../db/sessions/attempts.ts';
import { nextStartTag } from '../../../db/sessions/start-tag.ts';
import { insertQueuedSession } from '../../../db/sessions/states.ts';
import { createLog } from '../../../src/ops/log.ts';
import { Queue } from '../../../src/queue/queue.ts';
import { newJobId, transcriptionQueue } from '../../../src/queue/jobs.ts';
import { failSession } from '../../../src/sessions/completion.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { useDatabase } from '../../support/service/use-database.ts';
import { until } from '../../support/until.ts';

const { db, url } = await useDatabase();
/** Each may run as many jobs as there are places at most, so none is held back by its own limit. */
const accounts = await Promise.all([1, 2, 3].map(() => makeAccount(db, { limits: { running_jobs: 2 } })));

interface Upload {
  account: number;
  seconds: number;
  /** Of all uploads, the how many-th. */
  place: number;
  /**
   * Whether its account was within its share when it came: nothing of it waited or ran, and nothing of it had come since
   * the oldest that waits. What it heard since then counts, in seconds: short jobs of others may be many.
   */
  isAlone: boolean;
  /** How many had been taken when it came. */
  cameAfter: number;
}

/** Takes jobs with so many places. Uploads and ends come one after the other; a free place takes the next job at once. */
class Shop {
  readonly #queue = new Queue(url, createLog({ logLevel: 'silent' }), 'worker');
  readonly #places: number;
  readonly #waiting = new Map<string, Upload>();
  readonly #running: { upload: Upload; end: () => void }[] = [];
  /** The last upload of each account. */
  readonly #last = new Map<number, Upload>();
  #taking: ReturnType<Queue['work']> | undefined;
  #uploads = 0;
  taken: Upload[] = [];

  constructor(places: number) {
    this.#places = places;
  }

  async open(): Promise<void> {
    await this.#queue.start();
    const run = async (job: Parameters<Parameters<Queue['work']>[1]>[0]) => {
      const { accountId, sessionId } = job.data;
      const upload = this.#waiting.get(sessionId)!;
      await claimIfNotFinal(db, accountId, sessionId, job.id);
      this.#waiting.delete(sessionId);
      this.taken.push(upload);
      await new Promise<void>((end) => this.#running.push({ upload, end }));
      await inAccountTransaction(db, accountId, async (trx) => {
        await failSession(trx, accountId, sessionId, 'canceled');
        await this.#queue.complete(trx, job);
      });
    };
    this.#taking = this.#queue.work(() => this.#places, run);
  }

  async close(): Promise<void> {
    await this.endAll();
    await this.#taking?.stop();
    await this.#queue.stop();
  }

  waiting(account: number): number {
    return [...this.#waiting.values()].filter((upload) => upload.account === account).length;
  }

  unfinished(account: number): number {
    return this.waiting(account) + this.#running.filter(({ upload }) => upload.account === account).length;
  }

  async upload(account: number, seconds: number): Promise<void> {
    const accountId = accounts[account]!.id;
    const ids = { account_id: accountId, id: randomUUIDv7(), job_id: randomUUIDv7(), queue_job_id: newJobId() };
    const [oldest] = this.#waiting.values();
    const hasComeSince = (this.#last.get(account)?.place ?? -1) > (oldest?.place ?? Infinity);
    const isAlone = this.unfinished(account) === 0 && !hasComeSince;
    this.#uploads += 1;
    const upload = { account, seconds, place: this.#uploads, isAlone, cameAfter: this.taken.length };
    this.#waiting.set(ids.id, upload);
    this.#last.set(account, upload);
    const ofAudio = { duration_ms: seconds * 1_000, max_audio_ms: 14_400_000, reserved_ms: 0 };
    const session = { ...ids, ...ofAudio, title: '', attempts_left: 3 };
    await inAccountTransaction(db, accountId, async (trx, owner) => {
      const start_tag = nextStartTag(transcriptionQueue, owner!);
      await this.#queue.enqueue(trx, owner!, await insertQueuedSession(trx, { ...session, start_tag }));
    });
    await this.#settled();
  }

  async end(which: number): Promise<void> {
    const [ended] = this.#running.splice(which % Math.max(1, this.#running.length), 1);
    ended?.end();
    await this.#settled();
  }

  async endAll(): Promise<void> {
    while (this.#running.length > 0) await this.end(0);
  }

  #settled() {
    const idle = () => this.#places - this.#running.length;
    return until(() => idle() === 0 || this.#waiting.size === 0);
  }
}

let shop: Shop;
async function openShop(places: number): Promise<void> {
  shop = new Shop(places);
  await shop.open();
}
afterEach(() => shop.close());

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ account: fc.nat(2), seconds: fc.integer({ min: 0, max: 3_600 }) }) },
  { weight: 2, arbitrary: fc.record({ end: fc.nat(1) }) },
);

test.each([1, 2])(
  '%i places, uploads and ends in any order → one that comes alone waits for one job of each other account at most',
  async (places) => {
    await openShop(places);
    const holds = fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 20 }), async (steps) => {
      shop.taken = [];
      for (const one of steps) await ('end' in one ? shop.end(one.end) : shop.upload(one.account, one.seconds));
      await shop.endAll();
      for (const [index, upload] of shop.taken.entries()) {
        const before = shop.taken.slice(upload.cameAfter, index).map(({ account }) => account);
        if (upload.isAlone) expect(before).toEqual([...new Set(before)]);
        const own = shop.taken.slice(0, index).filter(({ account }) => account === upload.account);
        for (const earlier of own) expect(earlier.cameAfter).toBeLessThanOrEqual(upload.cameAfter);
      }
    });
    // To shrink a failure takes longer than a test may, and its seed would not be told.
    await fc.assert(holds, { numRuns: 8, endOnFailure: true });
  },
);

test('recordings of four hours beside short ones → the accounts share by seconds, to within one job of each', async () => {
  await openShop(1);
  const [long, short] = [14_400, 600];
  for (let i = 0; i < 60; i++) await shop.upload(1, short);
  for (let i = 0; i < 3; i++) await shop.upload(0, long);
  const heard = [0, 0];
  for (let i = 0; shop.waiting(0) > 0 && shop.waiting(1) > 0; i++) {
    const { account, seconds } = shop.taken[i]!;
    heard[account]! += seconds;
    expect(Math.abs(heard[0]! - heard[1]!)).toBeLessThanOrEqual(long + short);
    await shop.end(0);
  }
  expect(heard[0]).toBeGreaterThan(long);
});

test('two clients that come again as soon as their job has ended → what waits is taken all the same', async () => {
  await openShop(1);
  for (let i = 0; i < 4; i++) await shop.upload(0, 60);
  for (let i = 0; i < 12; i++) {
    for (const account of [1, 2]) if (shop.unfinished(account) === 0) await shop.upload(account, 60);
    await shop.end(0);
  }
  expect(shop.waiting(0)).toBe(0);
});
