/** What servers get: FLAC is made in memory, so that a full disk can not make it shorter. */
import { execFile } from 'node:child_process';
import { mkdtemp, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { canMountDisks, smallDisk } from '../../../support/faults/small-disk.ts';
import { asRecognizerInput, ffmpeg, noise } from '../../../support/uploads/audio-fixtures.ts';
import { useFolder } from '../../../support/use-folder.ts';
import { isNear } from '../../../../src/recognizers/openai/encode-chunk.ts';

const execute = promisify(execFile);
const folder = useFolder();

const soundModule = new URL('../../../../src/recognizers/openai/encode-chunk.ts', import.meta.url).href;

/** In a process for which `disk` has so much room; the recording comes to lie there, too. */
async function compressedBytes(recording: string, disk: string, room: string): Promise<number | string> {
  const script = `
    import { copyFile } from 'node:fs/promises';
    import { encodeChunk } from '${soundModule}';
    await copyFile('${recording}', '${disk}/decoded');
    const chunk = { startMs: 0, endMs: 12_000, windowStartMs: 0, windowEndMs: 12_000 };
    const flac = encodeChunk('${disk}/decoded', chunk, false, new AbortController().signal);
    console.log(JSON.stringify(await flac.then(({ size }) => size, (error) => String(error.code ?? error))));`;
  const [program, ...args] = [...smallDisk(disk, room), process.execPath, '--input-type=module', '-e', script];
  const { stdout } = await execute(program!, args);
  return JSON.parse(stdout) as number | string;
}

test('a disk with room for the chunk and a part of its FLAC → the whole FLAC; none for the chunk → ENOSPC', async () => {
  if (!canMountDisks()) return;
  const recording = await ffmpeg(...noise(12), ...asRecognizerInput, join(folder, 'noise'));
  const disk = await mkdtemp(join(folder, 'disk-'));
  expect((await stat(recording)).size).toBe(375 * 1024);
  const whole = await compressedBytes(recording, disk, '16m');
  expect(whole).toBeGreaterThan(300_000);
  for (const room of ['752k', '900k', '1m'])
    expect([room, await compressedBytes(recording, disk, room)]).toEqual([room, whole]);
  expect(await compressedBytes(recording, disk, '700k')).toBe('ENOSPC');
});

test.each([
  ...['http://127.0.0.1:8000/v1', 'http://[::1]/v1', 'http://localhost:8000/v1', 'http://10.1.2.3/v1'],
  ...['http://172.31.0.1/v1', 'http://192.168.1.2/v1', 'http://[fd00::1]/v1', 'http://gpu:8000/v1'],
  ...['http://gpu.ns.svc.cluster.local/v1', 'https://gpu.internal/v1'],
])('%s is near, other addresses are not', (url) => {
  expect(isNear(url)).toBe(true);
  const others = ['https://api.openai.com/v1', 'http://172.32.0.1/v1', 'https://8.8.8.8/v1', 'http://[2001:db8::1]/v1'];
  expect(others.filter(isNear)).toEqual([]);
});
