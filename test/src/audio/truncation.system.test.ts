/** Files that end before their own header says, which decode without an error. */
import { open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeAudio } from '../../../src/audio/decode.ts';
import { ffmpeg, noise, pictures } from '../../support/uploads/audio-fixtures.ts';
import { useFolder } from '../../support/use-folder.ts';

const folder = useFolder();
const decoded = (input: string) =>
  decodeAudio({ input, output: join(folder, 'decoded'), maxDurationMs: 60_000, timeLimitMs: 60_000 });

async function cut(input: string, part: number): Promise<string> {
  const bytes = await readFile(input);
  const output = join(folder, `cut-${part}.${input.split('.').at(-1)}`);
  await writeFile(output, bytes.subarray(0, bytes.length * part));
  return output;
}

test.each([
  ['a WAV', ['wav.wav']],
  ['an AVI', ['avi.avi']],
  ['WMA', ['wma.wma']],
  ['CAF', ['caf.caf']],
  ['FLAC', ['flac.flac']],
  ['an MP3 that counts its frames', ['mp3.mp3']],
  ['MP4 with its index first', ['-movflags', 'faststart', 'm4a.m4a']],
  ['WebM', ['webm.webm']],
  ['AU', ['au.au']],
  ['Wave64', ['w64.w64']],
  ['FLV', ['-ar', '44100', 'flv.flv']],
])('%s cut at 60 %% → truncated; whole → no warning', async (_, out) => {
  const whole = await ffmpeg(...noise(10), ...out.slice(0, -1), join(folder, out.at(-1)!));
  expect(await decoded(whole)).toMatchObject({ warnings: [] });
  const { durationMs, warnings } = await decoded(await cut(whole, 0.6));
  expect({ isShort: durationMs < 9_000, warnings }).toEqual({ isShort: true, warnings: ['truncated'] });
});

test.each([
  ['WAV', ['wav.wav']],
  ['WMA', ['wma.wma']],
  ['MP4', ['m4a.m4a']],
])('two %ss, one behind the other → heard to the end of the first, and so truncated', async (_, out) => {
  const whole = await ffmpeg(...noise(3), ...out.slice(0, -1), join(folder, out.at(-1)!));
  const bytes = await readFile(whole);
  await writeFile(whole, Buffer.concat([bytes, bytes]));
  expect(await decoded(whole)).toMatchObject({ warnings: ['truncated'] });
});

test('samples behind the end of a WAV, or in a second chunk → truncated', async () => {
  const bytes = await readFile(await ffmpeg(...noise(3), join(folder, 'behind.wav')));
  const chunk = bytes.subarray(bytes.indexOf('data'));
  for (const behind of [chunk, chunk.subarray(8)]) {
    await writeFile(join(folder, 'more.wav'), Buffer.concat([bytes, behind]));
    expect(await decoded(join(folder, 'more.wav'))).toMatchObject({ warnings: ['truncated'] });
  }
});

test.each([
  ['AAC without a container', ['adts.aac']],
  ['an MP3 that counts nothing', ['-write_xing', '0', 'plain.mp3']],
  ['Ogg', ['ogg.opus']],
  ['WMA that was written to a pipe', ['-seekable', '0', 'streamed.wma']],
  ['CAF that was written to a pipe', ['-seekable', '0', 'streamed.caf']],
])('%s cut at 60 %% → no header says how long it was, so no warning', async (_, out) => {
  const whole = await ffmpeg(...noise(10), ...out.slice(0, -1), join(folder, out.at(-1)!));
  expect(await decoded(await cut(whole, 0.6))).toMatchObject({ warnings: [] });
});

test('a WAV that was written to a pipe, and so does not know its length → no warning', async () => {
  const piped = await ffmpeg(...noise(3), join(folder, 'piped.wav'));
  await using file = await open(piped, 'r+');
  for (const unknown of [0xffff_ffff, 0x7fff_f024]) {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(unknown);
    await file.write(bytes, 0, 4, 4);
    expect(await decoded(piped)).toMatchObject({ warnings: [] });
  }
});

test('a film whose sound is shorter than its picture → no warning', async () => {
  const film = await ffmpeg(...pictures(20), ...noise(5), '-map', '0', '-map', '1', join(folder, 'film.mp4'));
  const { durationMs, warnings } = await decoded(film);
  expect({ isShort: durationMs < 6_000, warnings }).toEqual({ isShort: true, warnings: [] });
});

test('a file that says in its metadata that it is longer → not believed', async () => {
  const says = ['-metadata', 'title=a\n  Duration: 09:00:00.00, start: 0', '-metadata', 'Duration=09:00:00.00,'];
  expect(await decoded(await ffmpeg(...noise(3), ...says, join(folder, 'says.flac')))).toMatchObject({ warnings: [] });
});
