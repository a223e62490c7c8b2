import { spawn } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { openChunk } from '../../../src/audio/samples.ts';
import { projectFolder } from '../../architecture/source-files.ts';

/** 32 bytes of each millisecond; a little less than 2 MiB, which is read as two chunks. */
const lengthMs = 65_000;
let file: string;
beforeAll(async () => {
  file = join(await mkdtemp(join(process.env.TEST_FOLDER!, 'samples-')), 'audio');
  const samples = new Uint8Array(lengthMs * 32).map((_, index) => index % 251);
  await writeFile(file, samples);
});

test('a chunk → what it hears and nothing else', async () => {
  const chunk = { startMs: 100, endMs: 200, windowStartMs: 90, windowEndMs: 210 };
  await using handle = await openChunk(file, chunk);
  const samples = Buffer.alloc(10_000);
  const { bytesRead } = await handle.read(samples, 0, samples.length, 0);
  expect(bytesRead).toBe(120 * 32);
  expect(samples[0]).toBe((90 * 32) % 251);
});

/** A write that takes a part, as on a disk that is nearly full: the kernel allows no file beyond 1.5 MiB. */
const program = `
  const { openChunk } = await import('./src/audio/samples.ts');
  process.on('SIGXFSZ', () => {});
  const chunk = { startMs: 0, endMs: ${lengthMs}, windowStartMs: 0, windowEndMs: ${lengthMs} };
  const how = await openChunk(process.argv[1], chunk).then(() => 'opened', (error) => error.code);
  process.stdout.write(how);
`;

test('no room for the end of a chunk → an error, no chunk that is shorter', async () => {
  const command = [`--fsize=${1.5 * 1024 ** 2}`, process.execPath, '--input-type=module', '-e', program, file];
  const child = spawn('prlimit', command, { cwd: projectFolder, stdio: ['ignore', 'pipe', 'inherit'] });
  expect(await text(child.stdout)).toBe('EFBIG');
});
