/**
 * Downloads one file of a model. After an interruption it continues where it ended. The file counts only after its
 * checksum was compared.
 */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { rename, rm, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { downloadFile } from '@huggingface/hub';
import { Refusal } from '../terminal/refusal.ts';
import { checksumOf } from './checksum.ts';
import { HubRefusal, atTheBottomOf } from './hub-refusal.ts';
import type { ReadableStream } from 'node:stream/web';
import type { HostedFile, Hub } from './hub.ts';

export interface Fetching {
  signal: AbortSignal;
  /** Hears how many bytes of the file are there. */
  onBytes: (bytes: number) => void;
  onNotice: (message: string) => void;
}

/** The server does not send the part that was asked for; usually it sends the whole file again. */
class NoSuchPart extends Error {}

/**
 * Downloads `file` to `folder`. After an interruption the downloaded bytes are kept under a name that holds the
 * checksum. When the hub has another file by then, the download begins anew.
 * @throws {Refusal}
 * @throws the abort reason of `signal`
 */
export async function fetchFile(hub: Hub, file: HostedFile, folder: string, fetching: Fetching): Promise<void> {
  const path = join(folder, file.name);
  const { checksum, bytes } = file;
  if (
    (await sizeOf(path)) === bytes &&
    (await checksumOf(path, checksum.algorithm, fetching.signal)) === checksum.value
  ) {
    return fetching.onBytes(bytes);
  }
  const part = partOf(folder, file);
  if ((await sizeOf(part)) > bytes) await rm(part);
  await fetchRest(hub, file, part, fetching);

  const value = await checksumOf(part, checksum.algorithm, fetching.signal);
  if (value === checksum.value) return rename(part, path);
  await rm(part);
  throw new Refusal(
    `${file.path} was damaged on its way, or ${hub.url} serves another file than it says: its ${checksum.algorithm} is\n` +
      `  ${value} instead of\n  ${checksum.value}.\nNothing was installed. Try again, or another mirror (HF_ENDPOINT).`,
  );
}

/** The path of a file that is not complete. */
export const partOf = (folder: string, { name, checksum }: HostedFile): string =>
  join(folder, `${name}.${checksum.value.slice(0, 16)}`);

/**
 * Continues after each interruption, as long as something was received. When the server does not send the rest alone,
 * the download begins again, but only once: a server that always stops at the same place would never let it end.
 */
async function fetchRest(hub: Hub, file: HostedFile, part: string, fetching: Fetching): Promise<void> {
  let beganAnew = false;
  for (let have = await sizeOf(part); have < file.bytes;) {
    fetching.onBytes(have);
    const failure = await append(hub, file, part, have, fetching).catch((error: unknown) => error);
    fetching.signal.throwIfAborted();
    const before = have;
    have = await sizeOf(part);
    if (have === file.bytes) return;
    if (failure instanceof NoSuchPart || (failure instanceof HubRefusal && failure.status === 416)) {
      if (before === 0) throw failure;
      if (beganAnew) {
        throw new Refusal(
          `${hub.url} does not send the rest of ${file.path} alone, and the connection broke again. Nothing was installed.\n` +
            'Try again, or another mirror (HF_ENDPOINT).',
        );
      }
      beganAnew = true;
      fetching.onNotice(`${file.path} begins anew: the server does not send the rest alone.`);
      await truncate(part);
      have = 0;
    } else if (failure instanceof Refusal) {
      throw failure;
    } else if ((failure as NodeJS.ErrnoException | undefined)?.code === 'ENOSPC') {
      throw new Refusal(`The disk is full. What came of ${file.path} is kept: make room and type the same again.`);
    } else if (have === before) {
      const reason = failure === undefined ? 'it ended too early' : atTheBottomOf(failure);
      throw new Refusal(`${file.path} can not be fetched from ${hub.url} (${reason}).`);
    } else {
      fetching.onNotice(`The connection broke. Going on with ${file.path} where it ended.`);
    }
  }
}

/** Asks for everything from byte `from` on, by the hub's client, and appends it. */
async function append(hub: Hub, file: HostedFile, part: string, from: number, fetching: Fetching): Promise<void> {
  // The client's stream reports only the message of an error, and takes a whole file for the part that it asked for.
  let refusal: unknown;
  const ask: typeof fetch = async (...request) => {
    try {
      const answer = await hub.fetch(...request);
      if (from === 0 || answer.headers.get('Content-Range')?.startsWith(`bytes ${from}-`)) return answer;
      // A body that nobody reads would keep its connection.
      await answer.body?.cancel();
      throw new NoSuchPart();
    } catch (error) {
      refusal = error;
      throw error;
    }
  };
  const { repo, revision, path, bytes, checksum } = file;
  // Every mirror has this address. The hub's newer protocol (xet) can't continue in the middle of a file.
  const url = `${hub.url}/${repo}/resolve/${revision}/${path}`;
  const downloadInfo = { size: bytes, etag: checksum.value, url };
  const blob = await downloadFile({ repo, revision, path, fetch: ask, xet: false, downloadInfo });
  const body = Readable.fromWeb(blob!.slice(from).stream() as ReadableStream<Uint8Array>);
  const disk = createWriteStream(part, { flags: 'a', mode: 0o600 });
  try {
    await pipeline(body, upTo(bytes, from, fetching.onBytes), disk, { signal: fetching.signal });
  } catch (error) {
    // Bytes that are being written must still be counted.
    if (!disk.closed) await once(disk, 'close');
    throw refusal ?? error;
  }
}

/** Stops a server that sends too much, so that it does not fill the disk. */
function upTo(bytes: number, from: number, onBytes: (bytes: number) => void): Transform {
  let have = from;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      have += chunk.length;
      if (have > bytes) return done(new Refusal('The server sends more than the hub says the file has.'));
      onBytes(have);
      done(null, chunk);
    },
  });
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0;
}
