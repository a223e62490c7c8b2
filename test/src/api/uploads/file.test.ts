import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { UploadFile, withoutFirst } from '../../../../src/api/uploads/storage.ts';
import { useFolder } from '../../../support/use-folder.ts';

const folder = useFolder();
let path: string;
beforeEach(() => {
  path = join(folder, randomUUID());
});

const room = async () => undefined;
/** With a buffer of its own, as Node makes one for each piece of a body. */
const alone = (content: Buffer): Buffer => Buffer.from(Uint8Array.from(content).buffer);

test('pieces of every size → the file, its size and its SHA-256 are theirs', async () => {
  const content = randomBytes(20 * 1024 * 1024);
  const pieces: Buffer[] = [];
  for (let at = 0, length = 1; at < content.length; at += length, length = (length * 7 + 3) % 70_001) {
    pieces.push(alone(content.subarray(at, at + length)));
  }
  const file = new UploadFile(await open(path, 'wx'), true, room);
  await pipeline(Readable.from(pieces, { objectMode: false, highWaterMark: 1024 * 1024 }), file);
  await file.flush();
  expect((await readFile(path)).equals(content)).toBe(true);
  expect(file.bytes).toBe(content.length);
  expect(file.sha256()).toEqual(createHash('sha256').update(content).digest());
});

test('a piece that was written → its memory is given back, but not what lies beside it', async () => {
  const whole = alone(Buffer.from('whole'));
  const shared = alone(Buffer.from('before part after'));
  const file = new UploadFile(await open(path, 'wx'), false, room);
  await pipeline(Readable.from([whole, shared.subarray(7, 11)], { objectMode: false }), file);
  await file.flush();
  expect([whole.length, shared.toString()]).toEqual([0, 'before part after']);
  expect(await readFile(path, 'utf8')).toBe('wholepart');
});

test.each([
  [2, 'cdef'],
  [3, 'def'],
  [6, ''],
])('%i of 6 bytes were written → "%s" is left', (bytes, left) => {
  const chunks = ['ab', 'c', 'def'].map((text) => Buffer.from(text));
  expect(Buffer.concat(withoutFirst(bytes, chunks)).toString()).toBe(left);
  expect(withoutFirst(bytes, chunks).every(({ length }) => length > 0)).toBe(true);
});
