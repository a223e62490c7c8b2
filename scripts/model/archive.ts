/** Reads tar archives from any source. Only the files of a model are written, under names that we choose. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { Parser } from 'tar';
import { findExecutable } from '../../src/children/executable.ts';
import { Refusal } from '../terminal/refusal.ts';
import { refuseFullDisk } from './staging.ts';
import type { ReadEntry } from 'tar';
import type { ModelFile } from '../../src/recognizers/sherpa-onnx/model-description.ts';
import type { Installation } from './download.ts';

/**
 * @param onBytes hears how much of the archive was read
 * @param files of a model
 * @returns the names of those that were in it, and are in `folder` now
 * @throws {Refusal} also for an archive with links, or with names that lead out of it
 * @throws {ExecutableNotFound} bzip2
 */
export async function unpackModel(
  archive: string,
  files: readonly ModelFile[],
  folder: string,
  installation: Installation,
  onBytes: (bytes: number) => void,
): Promise<ReadonlySet<string>> {
  const arrived = new Set<string>();
  const take = async (entry: ReadEntry): Promise<void> => {
    const wanted = files.find(({ path, name }) =>
      [path, name].map((each) => basename(each)).includes(basename(entry.path)),
    );
    if (wanted === undefined || entry.type === 'Directory') return void entry.resume();
    await refuseFullDisk(entry.size, installation);
    await pipeline(Readable.from(entry), createWriteStream(join(folder, wanted.name), { mode: 0o600 }));
    arrived.add(wanted.name);
  };
  const taking: Promise<void>[] = [];
  const parser = new Parser({
    strict: true,
    onReadEntry(entry) {
      const fault = faultOf(entry);
      if (fault === undefined) taking.push(take(entry).catch((error: Error) => parser.abort(error)));
      else parser.abort(new Refusal(`${archive} holds ${fault}: it is no archive of a model. Nothing was installed.`));
    },
  });
  try {
    await readTar(await contentOf(archive, onBytes), parser, installation.signal);
    await Promise.all(taking);
  } catch (error) {
    throw error instanceof Refusal ? error : new Refusal(`${archive} can not be read: ${(error as Error).message}`);
  }
  return arrived;
}

function faultOf({ path, type }: ReadEntry): string | undefined {
  if (path.startsWith('/') || path.split(/[/\\]/).includes('..')) return `a file named ${JSON.stringify(path)}`;
  if (type === 'SymbolicLink' || type === 'Link') return `a link, ${JSON.stringify(path)}`;
  const isPlain = ['File', 'OldFile', 'ContiguousFile', 'Directory'].includes(type);
  return isPlain ? undefined : `something else than files (${type}), ${JSON.stringify(path)}`;
}

async function readTar(content: AsyncIterable<Buffer>, parser: Parser, signal: AbortSignal): Promise<void> {
  let hasEnd = false;
  parser.on('eof', () => (hasEnd = true));
  const ended = new Promise<void>((resolve, reject) => parser.on('end', resolve).on('error', reject));
  await Promise.all([ended, feed(content, parser, ended, signal)]);
  if (!hasEnd) throw new Error('it ends too early');
}

async function feed(
  content: AsyncIterable<Buffer>,
  parser: Parser,
  ended: Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  for await (const chunk of content) {
    signal.throwIfAborted();
    if (!parser.write(chunk)) await Promise.race([once(parser, 'drain'), ended]);
  }
  parser.end();
}

/**
 * gzip is recognized by its first bytes, by the parser. bzip2 is recognized in the same way, because browsers change
 * file names.
 */
async function contentOf(archive: string, onBytes: (bytes: number) => void): Promise<AsyncIterable<Buffer>> {
  const beginning = await firstBytes(archive);
  const file = counted(createReadStream(archive, { highWaterMark: 1024 * 1024 }), onBytes);
  return beginning === 'BZh' ? unpackBzip2(file) : file;
}

async function* counted(file: AsyncIterable<Buffer>, onBytes: (bytes: number) => void): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of file) {
    bytes += chunk.length;
    onBytes(bytes);
    yield chunk;
  }
}

async function firstBytes(file: string): Promise<string> {
  await using handle = await open(file);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(3), 0, 3, 0);
  return buffer.toString('latin1', 0, bytesRead);
}

/** Neither Node nor the parser can read bzip2. */
async function* unpackBzip2(file: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const child = spawn(await findExecutable('bzip2'), ['-dc'], { env: {}, cwd: '/' });
  const ended = once(child, 'close') as Promise<[code: number | null]>;
  const said = text(child.stderr);
  const writing = pipeline(file, child.stdin).catch(() => {});
  try {
    yield* child.stdout as AsyncIterable<Buffer>;
    await writing;
    const [code] = await ended;
    if (code !== 0) throw new Error((await said).trim().split('\n')[0]);
  } finally {
    child.kill();
  }
}
