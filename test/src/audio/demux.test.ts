import { mkdtemp, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { measureByDemuxing } from '../../../src/audio/measure.ts';
import { findExecutable } from '../../../src/children/bounded-command.ts';
import { box, changeBox } from '../../hostile-media/mp4-boxes.ts';
import { amrWithoutSound, ffmpeg, sine } from '../../support/uploads/audio-fixtures.ts';
import { withFfmpeg } from '../../support/faults/fake-programs.ts';
import { useFolder } from '../../support/use-folder.ts';

const folder = useFolder();

const at = (name: string): string => join(folder, name);
const measure = async (file: string) => (await measureByDemuxing(file, { timeLimitMs: 20_000 })).durationMs;

/** What `measure` finds, and how many times it started ffmpeg, which may make files here, as long as they are empty. */
async function measureAndCount(file: string) {
  const ffmpegs = await mkdtemp(at('ffmpegs-'));
  const counted = `: > ${ffmpegs}/$$; exec ${await findExecutable('ffmpeg')} "$@"`;
  const durationMs = await withFfmpeg(counted, () => measure(file));
  return { durationMs, ffmpegs: (await readdir(ffmpegs)).length };
}

/** 60 s without compression: 10 MB, of which only the last tenth is printed. */
const large = (name: string, ...more: string[]) =>
  ffmpeg(...sine(60), '-ac', '2', '-c:a', 'pcm_s16le', ...more, at(name));

test('large files → as long as they are', async () => {
  expect(await measureAndCount(await large('plain.mov'))).toEqual({ durationMs: 60_000, ffmpegs: 1 });
  expect(await measure(await large('plain.aiff'))).toBe(60_000);
  const minute = await readFile(await ffmpeg(...sine(60), '-b:a', '320k', '-write_xing', '0', at('minute.mp3')));
  await writeFile(at('large.mp3'), Buffer.concat([minute, minute, minute, minute]));
  expect(Math.abs((await measure(at('large.mp3')))! - 240_000)).toBeLessThan(200);
});

test('2 MB behind the audio → no packet in the last tenth, and still its length', async () => {
  const file = await large('followed.mov');
  await writeFile(file, Buffer.concat([await readFile(file), box('free', Buffer.alloc(2_000_000))]));
  expect(await measureAndCount(file)).toEqual({ durationMs: 60_000, ffmpegs: 2 });
});

test('the last packets lie at the beginning of the file → they count too', async () => {
  const file = await large('back.mov', '-movflags', '+faststart');
  const moved = changeBox(await readFile(file), ['moov', 'trak', 'mdia', 'minf', 'stbl', 'stco'], (content) => {
    const chunks = Buffer.from(content);
    chunks.copyWithin(chunks.length - 4, 8, 12);
    return chunks;
  });
  await writeFile(file, moved);
  expect(await measure(file)).toBe(60_000);
});

test.each([
  ['8 MiB', 8 * 1024 * 1024],
  ['4 MiB', 4 * 1024 * 1024],
])('%s of packets of one byte, days of audio → too long as soon as that is seen', async (_, bytes) => {
  await writeFile(at('days.amr'), amrWithoutSound(bytes));
  // All of it would take minutes, and with them the time limit: then there is no verdict.
  const measuring = measureByDemuxing(at('days.amr'), { timeLimitMs: 20_000, maxDurationMs: 60_000 });
  await expect(measuring).rejects.toMatchObject({ code: 'audio_too_long' });
});

test.each(['limit.mov', 'limit.flac'])(
  '%s exactly as long as it may be → measured; 1 ms more → too long',
  async (name) => {
    const file = name.endsWith('mov') ? await large(name) : await ffmpeg(...sine(60), at(name));
    const within = (maxDurationMs: number) => measureByDemuxing(file, { timeLimitMs: 20_000, maxDurationMs });
    expect(await within(60_000)).toEqual({ durationMs: 60_000 });
    await expect(within(59_999)).rejects.toMatchObject({ code: 'audio_too_long' });
  },
);
