import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { uploadStorage } from '../../../../src/api/uploads/storage.ts';
import { Spool } from '../../../../src/files/spool.ts';
import { useFolder } from '../../../support/use-folder.ts';
import type { StoredFile } from '../../../../src/api/uploads/storage.ts';

const spool = new Spool(useFolder());
beforeAll(() => spool.open());

/** With a buffer of its own, as Node makes one for each piece of a body. */
const alone = (content: Buffer): Buffer => Buffer.from(Uint8Array.from(content).buffer);

/** Stores a file that comes in these pieces, and waits until it is on disk. */
async function store(pieces: Buffer[]): Promise<StoredFile & { content: Buffer }> {
  const stream = Readable.from(pieces, { objectMode: false, highWaterMark: 1024 * 1024 });
  const { promise, resolve, reject } = Promise.withResolvers<StoredFile>();
  uploadStorage(spool, { hash: true, keep: true, minFreeDisk: 0 })._handleFile(
    {} as Express.Request as never,
    { stream } as Express.Multer.File,
    (error: unknown, stored) => (error ? reject(error as Error) : resolve(stored as unknown as StoredFile)),
  );
  const stored = await promise;
  await stored.flushed;
  return { ...stored, content: await readFile(stored.path!) };
}

test('pieces of every size → the file, its size and its SHA-256 are theirs', async () => {
  const content = randomBytes(20 * 1024 * 1024);
  const pieces: Buffer[] = [];
  for (let at = 0, length = 1; at < content.length; at += length, length = (length * 7 + 3) % 70_001) {
    pieces.push(alone(content.subarray(at, at + length)));
  }
  const stored = await store(pieces);
  expect(stored.content.equals(content)).toBe(true);
  expect(stored.size).toBe(content.length);
  expect(stored.sha256).toEqual(createHash('sha256').update(content).digest());
});

test('pieces that were written → their memory is given back while more comes, but not what lies beside one', async () => {
  const shared = alone(Buffer.from('before part after'));
  const pieces = Array.from({ length: 100 }, () => alone(Buffer.alloc(64 * 1024)));
  await store([shared.subarray(7, 11), ...pieces]);
  expect(pieces.filter(({ length }) => length === 0).length).toBeGreaterThan(50);
  expect(shared.toString()).toBe('before part after');
});
