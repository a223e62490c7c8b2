/** What is refused, and by whose fault. Files of every kind: `test/hostile-media/`. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { AudioError, AudioToolError } from '../../../src/audio/audio-error.ts';
import { decodeAudio } from '../../../src/audio/decode.ts';
import { measureAudio } from '../../../src/audio/measure.ts';
import { dependencyErrorOf } from '../../../src/ops/dependency-error.ts';
import { withFfmpeg } from '../../support/faults/fake-programs.ts';
import { descendantsOf } from '../../rig/processes.ts';
import { canMountDisks, smallDisk } from '../../support/faults/small-disk.ts';
import { until } from '../../support/until.ts';
import { amrWithoutSound, ffmpeg, sine } from '../../support/uploads/audio-fixtures.ts';
import { useFolder } from '../../support/use-folder.ts';

const execute = promisify(execFile);

const folder = useFolder();
let fiveHours: string;
beforeAll(async () => {
  fiveHours = await ffmpeg('-f', 'lavfi', '-i', 'anullsrc=r=8000:cl=mono', '-t', '18000', at('five-hours.flac'));
});

const at = (name: string): string => join(folder, name);
const timeLimitMs = 20_000;
const decode = (input: string, more: object = {}): Promise<{ durationMs: number }> =>
  decodeAudio({ input, output: at('decoded'), maxDurationMs: 60_000, timeLimitMs, ...more });

async function codes(input: string): Promise<unknown[]> {
  const code = (error: unknown): unknown => (error instanceof AudioError ? error.code : error);
  return [await measureAudio(input, { timeLimitMs }).catch(code), await decode(input).catch(code)];
}

test.each([
  ['5.1', 1, 'file:/a: Operation not permitted'],
  ['5.1', 1, 'file:/a: Cannot allocate memory'],
  ['7.1', 255, 'Error opening input file file:/a.\nError opening input files: Operation not permitted'],
  ['7.1', 244, 'Error opening input file file:/a.\nError opening input files: Cannot allocate memory'],
])('ffmpeg %s ends with %i for a header that it does not take → unsupported_media', async (_, code, said) => {
  const file = await ffmpeg(...sine(1), at('header.flac'));
  const ends = `printf '%s\n' '${said}' >&2; exit ${code}`;
  expect(await withFfmpeg(ends, () => codes(file))).toEqual(['unsupported_media', 'unsupported_media']);
});

test('a name like an option, a protocol or a pattern → a name', async () => {
  await mkdir(at('-i x'));
  for (const name of ['-y', 'http:a.wav', '%03d.wav', 'ünï "\'$(id).wav', '-i x/a b.wav']) {
    await writeFile(at(name), await readFile(await ffmpeg(...sine(1), at('plain.wav'))));
    expect([name, await decode(at(name))]).toMatchObject([name, { durationMs: 1000 }]);
  }
});

test('exactly the maximum length → decoded; 1 ms more → audio_too_long; hours more → stops at the maximum', async () => {
  const file = await ffmpeg(...sine(3), at('three.wav'));
  expect(await decode(file, { maxDurationMs: 3000 })).toMatchObject({ durationMs: 3000 });
  await expect(decode(file, { maxDurationMs: 2999 })).rejects.toMatchObject({ code: 'audio_too_long' });
  await expect(decode(fiveHours, { maxDurationMs: 3000 })).rejects.toMatchObject({ code: 'audio_too_long' });
  expect((await stat(at('decoded'))).size).toBeLessThanOrEqual(4000 * 32);
});

test('8 MiB of packets of one byte, days of audio → too long as soon as that is measured', async () => {
  await writeFile(at('days.amr'), amrWithoutSound(8 * 1024 * 1024));
  // All of it would take longer than the time limit: then there is no verdict.
  const measuring = measureAudio(at('days.amr'), { timeLimitMs, maxDurationMs: 60_000 });
  await expect(measuring).rejects.toMatchObject({ code: 'audio_too_long' });
});

test('the decoded audio → readable by its owner only', async () => {
  await decode(await ffmpeg(...sine(1), at('one.wav')));
  expect((await stat(at('decoded'))).mode & 0o777).toBe(0o600);
});

test('too slow → decoding timed out, measuring gives nothing', async () => {
  await expect(decode(fiveHours, { maxDurationMs: 1e9, timeLimitMs: 20 })).rejects.toMatchObject({ code: 'timed_out' });
  expect(await measureAudio(fiveHours, { timeLimitMs: 20 })).toBeUndefined();
});

test('an abort → its reason', async () => {
  const file = await ffmpeg(...sine(1), at('aborted.wav'));
  const signal = AbortSignal.abort(new Error('stopping'));
  await expect(decode(file, { signal })).rejects.toThrow('stopping');
  await expect(measureAudio(file, { timeLimitMs, signal })).rejects.toThrow('stopping');
});

const errorOf = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

test('trouble of the operator (disk full, store gone, ffmpeg missing, killed) → AudioToolError that says so', async () => {
  const file = await ffmpeg(...sine(1), at('fine.wav'));
  const faults = [
    await errorOf(decode(file, { output: '/dev/full' })),
    await errorOf(decode(file, { output: at('no/such/folder') })),
    await errorOf(decode(at('unmounted/gone.wav'))),
    await errorOf(measureAudio(at('unmounted/gone.wav'), { timeLimitMs })),
    await withFfmpeg('kill -KILL $$', () => errorOf(decode(file))),
    await withFfmpeg('kill -KILL $$', () => errorOf(measureAudio(fiveHours, { timeLimitMs }))),
  ];
  const path = process.env['PATH'];
  process.env['PATH'] = folder;
  const missing = await errorOf(decode(file));
  process.env['PATH'] = path;
  for (const fault of [...faults, missing]) {
    expect(fault).toBeInstanceOf(AudioToolError);
    expect(dependencyErrorOf(fault)).toBeInstanceOf(Error);
  }
  expect(dependencyErrorOf(faults[0])).toMatchObject({ cause: { code: 'ENOSPC' } });
  expect(String(missing)).toContain('apt-get install');
});

test('trouble of another kind (one file lost, a crash) → AudioToolError, and nothing for the operator to do', async () => {
  const file = await ffmpeg(...sine(1), at('fine.wav'));
  const troubles = [
    await errorOf(decode(at('gone.wav'))),
    await errorOf(measureAudio(at('gone.wav'), { timeLimitMs })),
    await withFfmpeg('kill -SEGV $$', () => errorOf(decode(file))),
  ];
  for (const trouble of troubles) {
    expect(trouble).toBeInstanceOf(AudioToolError);
    expect(dependencyErrorOf(trouble)).toBeUndefined();
  }
});

test('a disk with room for a part of the last samples → no decoded audio, rather than less of it', async () => {
  // Where mounting is forbidden, /dev/full above stands for it.
  if (!canMountDisks()) return;
  const file = await ffmpeg(...sine(12), at('twelve.wav'));
  const disk = await mkdtemp(at('disk-'));
  const script = `
    import { decodeAudio } from '${new URL('../../../src/audio/decode.ts', import.meta.url).href}';
    const options = { input: '${file}', output: '${disk}/decoded', maxDurationMs: 60_000, timeLimitMs: ${timeLimitMs} };
    console.log(JSON.stringify(await decodeAudio(options).then(({ durationMs }) => durationMs, ({ name }) => name)));`;
  for (const room of ['256k', '300k', '360k', '372k', '376k']) {
    const [program, ...args] = [...smallDisk(disk, room), process.execPath, '--input-type=module', '-e', script];
    const { stdout } = await execute(program!, args);
    // 12 s are 375 KiB, and the disk has room for whole pages of 4 KiB.
    expect([room, JSON.parse(stdout)]).toEqual([room, room === '376k' ? 12_000 : 'AudioToolError']);
  }
});

test.each(['TERM', 'INT', 'XCPU'])(
  'ffmpeg is stopped by SIG%s → an error, and nothing that looks whole',
  async (signal) => {
    const output = at(`stopped-by-${signal}`);
    const decoding = errorOf(decode(fiveHours, { maxDurationMs: 1e8, output }));
    await until(async () => (await stat(output).catch(() => ({ size: 0 }))).size > 0);
    const child = descendantsOf(process.pid).find(({ name }) => name === 'ffmpeg');
    process.kill(child!.pid, `SIG${signal}`);
    expect(await decoding).toBeInstanceOf(AudioToolError);
  },
);
