/** How loud recordings are, and what is done about it before anybody listens to them. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readFile } from 'node:fs/promises';
import { decodeAudio } from '../../../src/audio/decode.ts';
import { LoudnessMeter } from '../../../src/audio/loudness.ts';
import { ffmpeg, silence, speechClips } from '../../support/uploads/audio-fixtures.ts';
import { useFolder } from '../../support/use-folder.ts';

const folder = useFolder();
const output = join(folder, 'decoded');
const clips = await speechClips();
const wavHeaderBytes = 44;

function loudnessOf(samples: Buffer) {
  const meter = new LoudnessMeter();
  meter.push(samples);
  return meter.end();
}

async function decoded(...args: string[]) {
  const input = await ffmpeg(...args, join(folder, 'made.wav'));
  const { warnings } = await decodeAudio({ input, output, maxDurationMs: 60_000, timeLimitMs: 60_000 });
  return { warnings, ...loudnessOf(await readFile(output)) };
}

test.each(clips)('$file → as loud as ffmpeg says by EBU R 128, within 1 dB', async ({ file }) => {
  const { stderr } = await promisify(execFile)('ffmpeg', ['-nostats', '-i', file, '-af', 'ebur128', '-f', 'null', '-']);
  const byFfmpeg = Number(/^ +I: +(-\d+\.\d+) LUFS$/m.exec(stderr)![1]);
  const { levelDb } = loudnessOf((await readFile(file)).subarray(wavHeaderBytes));
  expect(Math.abs(levelDb - byFfmpeg)).toBeLessThan(1);
});

test.each([-30, -40, -50, -60])(
  'a voice that is %i dB quieter → as loud as others, its pauses found, and said',
  async (db) => {
    const clip = clips[4]!.file;
    const usual = await decoded('-i', clip);
    const quiet = await decoded('-i', clip, '-af', `volume=${db}dB`);
    expect(usual.warnings).toEqual([]);
    expect(quiet.warnings).toEqual(['quiet']);
    expect(quiet.levelDb).toBeCloseTo(-26, -1);
    expect(Math.abs(quiet.silences.length - usual.silences.length)).toBeLessThanOrEqual(1);
  },
);

test('a voice in a container with more than 16 bits, 70 dB quieter → nothing of it is lost', async () => {
  const input = await ffmpeg(
    '-i',
    clips[4]!.file,
    '-af',
    'volume=-70dB',
    '-c:a',
    'flac',
    '-sample_fmt',
    's32',
    join(folder, 'quiet.flac'),
  );
  await decodeAudio({ input, output, maxDurationMs: 60_000, timeLimitMs: 60_000 });
  const [heard, said] = [await readFile(output), (await readFile(clips[4]!.file)).subarray(wavHeaderBytes)];
  const { levelDb, floorDb } = loudnessOf(heard);
  const usual = loudnessOf(said);
  expect(Math.abs(levelDb - floorDb - (usual.levelDb - usual.floorDb))).toBeLessThan(6);
});

test.each([
  ['an empty room, whose noise is steady', ['-f', 'lavfi', '-i', 'anoisesrc=a=0.0005:c=pink:r=16000:d=5:seed=1']],
  ['nothing at all', silence(5)],
])('%s → not made louder', async (_, source) => {
  const { warnings, levelDb } = await decoded(...source);
  expect({ warnings, isQuiet: levelDb < -60 }).toEqual({ warnings: [], isQuiet: true });
});

test('too loud for its format → clipped; loud, but whole → not', async () => {
  expect((await decoded('-i', clips[0]!.file, '-af', 'volume=30dB')).warnings).toEqual(['clipped']);
  expect((await decoded('-i', clips[0]!.file, '-af', 'volume=7dB')).warnings).toEqual([]);
});

test('sampled as for a telephone → narrowband', async () => {
  expect((await decoded('-i', clips[0]!.file, '-ar', '8000')).warnings).toEqual(['narrowband']);
});
