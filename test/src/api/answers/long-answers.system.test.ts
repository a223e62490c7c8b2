/** Answers of megabytes: right to the last character, shared by all who read them, and let go with their clients. */
import { readFile } from 'node:fs/promises';
import { once } from 'node:events';
import { startProcess } from '../../../support/service/processes.ts';
import { plainGet, unreadGet } from '../../../support/clients/plain-get.ts';
import { useAccount, useService } from '../../../support/service/use-service.ts';
import { makeSession, twoSegments } from '../../../support/service/sessions.ts';
import { until } from '../../../support/until.ts';
import type { ServiceProcess } from '../../../support/service/processes.ts';

const service = await useService();
const account = await useAccount(service);
let api: ServiceProcess;
/** The address of a transcript of 5 MB. */
let long: string;
beforeAll(async () => {
  const env = { DATABASE_URL: service.databaseUrl, DATA_DIR: service.dataDir };
  api = await startProcess('start-api', env);
  long = await transcriptOf(16_000, noise);
});

/** The address of a transcript of so many segments. @param text of each segment */
async function transcriptOf(count: number, text: (index: number) => string): Promise<string> {
  const segments = Array.from({ length: count }, (_, index) => ({
    index,
    startMs: index * 100,
    endMs: index * 100 + 90,
    text: text(index),
  }));
  const transcript = { ...twoSegments, durationMs: count * 100, segments: JSON.stringify(segments) };
  const { id } = await makeSession(service.db, account.id, { status: 'completed', transcript });
  return `${api.url}/v1/sessions/${id}/transcript`;
}

const signs = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~';
/** Compresses badly, so that a client that does not read is soon waited for. No words, which would fill the search index. */
const noise = (index: number) =>
  [...Buffer.from(Float64Array.from({ length: 32 }, (_, i) => Math.sin(index * 32 + i)).buffer)]
    .map((byte) => signs[byte % signs.length])
    .join('');

const accepting = (encoding: string) => ({ Authorization: `Bearer ${account.key}`, 'Accept-Encoding': encoding });

/** In MB. */
const peak = async () => Number(/VmHWM:\s*(\d+) kB/.exec(await readFile(`/proc/${api.pid}/status`, 'utf8'))![1]) / 1e3;

test.each([0, 1, 2, 3])(
  'characters of every width, moved by %i → each arrives whole, however it is sent',
  async (by) => {
    const text = `${'-'.repeat(by)}${'😀é界'.repeat(200)}`;
    const address = await transcriptOf(700, () => text);
    const plain = await plainGet(address, accepting('identity'));
    const packed = await plainGet(address, accepting('gzip'));
    expect([plain.headers['content-length'], packed.headers['content-encoding']]).toEqual([
      String(plain.bytes.length),
      'gzip',
    ]);
    expect(packed.text).toBe(plain.text);
    const { segments } = JSON.parse(plain.text) as { segments: { text: string }[] };
    expect(segments).toHaveLength(700);
    expect(segments.filter((segment) => segment.text !== text)).toEqual([]);
  },
);

test.each(['identity', 'gzip'])('20 clients that do not read 5 MB (%s) → not 20 copies of it', async (encoding) => {
  const { bytes, text } = await plainGet(long, accepting(encoding));
  expect(text.length).toBeGreaterThan(5e6);
  const before = await peak();
  const answers = await Promise.all(Array.from({ length: 20 }, () => unreadGet(long, accepting(encoding))));
  // What the service has by now, when the last of them got its headers, it keeps until they read.
  expect((await peak()) - before).toBeLessThan(75);
  const lengths = await Promise.all(
    answers.map(async (answer) => {
      let length = 0;
      for await (const chunk of answer) length += (chunk as Buffer).length;
      return length;
    }),
  );
  expect(lengths).toEqual(lengths.map(() => bytes.length));
});

test('64 clients that stop reading → the next is answered as it is; they leave → compressed again', async () => {
  const encodingNow = async () => {
    const answer = await unreadGet(long, accepting('gzip'));
    answer.destroy();
    return answer.headers['content-encoding'];
  };
  const waiting = await Promise.all(Array.from({ length: 64 }, () => unreadGet(long, accepting('gzip'))));
  expect(waiting.map(({ headers }) => headers['content-encoding'])).toEqual(waiting.map(() => 'gzip'));
  expect(await encodingNow()).toBeUndefined();

  for (const answer of waiting) {
    answer.destroy();
    await once(answer, 'close');
  }
  await until(async () => (await encodingNow()) === 'gzip');
  expect((await plainGet(long, accepting('gzip'))).headers['content-encoding']).toBe('gzip');
});
