import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Spool } from '../../../../src/files/spool.ts';
import { readConfig } from '../../../../src/config/config.ts';
import { ApiError } from '../../../../src/api/answers/problem.ts';
import { receiveUpload } from '../../../../src/api/uploads/receiving.ts';
import { serve } from '../../../support/serve.ts';
import { boundary, filePart, form, formType } from '../../../support/uploads/uploads.ts';

const oneMiB = 1024 * 1024;
let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'upload-test-'));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

/** A disk on which asking for its free space waits for the test. */
class WatchedSpool extends Spool {
  free: () => Promise<number> = () => super.freeBytes();
  override freeBytes(): Promise<number> {
    return this.free();
  }
}

/** Receives one upload; answers its size, or the code of its refusal. */
async function receive(spool: WatchedSpool, body: Buffer, onRequestClose = () => undefined): Promise<string> {
  await spool.open();
  const config = readConfig({ DATA_DIR: dataDir, MIN_FREE_DISK: '1000' });
  const { url, close } = await serve((req, res) => {
    req.once('close', onRequestClose);
    receiveUpload(req, { spool, config }, { boundary, maxBytes: 200 * oneMiB, hash: true, keep: true }).then(
      ({ file }) => res.end(String(file.sizeBytes)),
      (error: unknown) => res.end(error instanceof ApiError ? error.code : String(error)),
    );
  });
  try {
    const headers = { 'Content-Type': formType };
    return await (await fetch(url, { method: 'POST', headers, body: new Uint8Array(body) })).text();
  } finally {
    await close();
  }
}

test('a disk that lags behind the client → the upload is complete all the same', async () => {
  const spool = new WatchedSpool(dataDir);
  const { promise: requestClosed, resolve } = Promise.withResolvers<void>();
  // Asked after 8 MiB, and answered only once Node has read all of the request and the file is closed.
  spool.free = () => requestClosed.then(() => pause(200, 1e12));
  const size = 8 * oneMiB + 300_000;
  expect(await receive(spool, form(filePart(Buffer.alloc(size))), () => void resolve())).toBe(String(size));
});

test('a disk that fills up while the upload comes → unavailable, nothing is left', async () => {
  const spool = new WatchedSpool(dataDir);
  spool.free = () => Promise.resolve(999);
  expect(await receive(spool, form(filePart(Buffer.alloc(9 * oneMiB))))).toBe('unavailable');
  expect(await readdir(join(dataDir, 'audio', 'incoming'))).toEqual([]);
});

test('the folder for uploads is gone meanwhile → the disk is what failed, not the service', async () => {
  const spool = new WatchedSpool(dataDir);
  await spool.open();
  spool.open = async () => undefined;
  await rm(join(dataDir, 'audio'), { recursive: true });
  expect(await receive(spool, form(filePart('x')))).toMatch(
    /^AudioStoreLost: the disk of DATA_DIR can not be used: ENOENT/,
  );
});
