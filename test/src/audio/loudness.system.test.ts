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

test.each([-30, -60])('a voice that is %i dB quieter → as loud as others, its pauses found, and said', async (db) => {
  const clip = clips[4]!.file;
  const usual = await decoded('-i', clip);
  const quiet = await decoded('-i', clip, '-af', `volume=${db}dB`);
  expect(usual.warnings).toEqual([]);
  expect(quiet.warnings).toEqual(['quiet']);
  expect(quiet.levelDb).toBeCloseTo(-26, -1);
  expect(Math.abs(quiet.silences.length - usual.silences.length)).toBeLessThanOrEqual(2);
});

test.each([
  ['an offset', 'aevalsrc=0.2:s=16000:d=30'],
  ['the hum of mains', 'sine=50:r=16000:d=30,volume=-20dB'],
])('a quiet voice with %s → as loud as others, and nothing of the rest', async (_, noise) => {
  const voice = ['-i', clips[4]!.file, '-f', 'lavfi', '-i', noise];
  const mix = '[0:a]volume=-36dB[a];[a][1:a]amix=2:duration=first:normalize=0';
  const { warnings, levelDb, silences } = await decoded(...voice, '-filter_complex', mix);
  expect({ warnings, isUsual: Math.abs(levelDb + 26) < 3 }).toEqual({ warnings: ['quiet'], isUsual: true });
  expect(silences.length).toBeGreaterThan(0);
});

test.each([
  [-100, ['-c:a', 'pcm_s24le']],
  [-110, ['-c:a', 'pcm_f32le']],
])('a voice at %i dB, below what 16 bits hold → made louder before it is cut to 16 bits', async (db, encoding) => {
  const { warnings, levelDb } = await decoded('-i', clips[4]!.file, '-af', `volume=${db + 20}dB`, ...encoding);
  expect({ warnings, isUsual: Math.abs(levelDb + 26) < 3 }).toEqual({ warnings: ['quiet'], isUsual: true });
});

test.each([32_768, 8_388_608, 3])('a voice in floating point, %i times too high → not cut off', async (times) => {
  const high = ['-af', `aformat=flt,volume=${times}:precision=float`, '-c:a', 'pcm_f32le'];
  const { warnings, levelDb } = await decoded('-i', clips[4]!.file, ...high);
  expect({ warnings, isHeard: levelDb > -30 && levelDb < -5 }).toEqual({ warnings: [], isHeard: true });
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

/** Samples as loud as this, for so many ms. */
const sound = (loudness: number, ms: number): Buffer => {
  const samples = Buffer.alloc(ms * 32);
  for (let at = 0; at < samples.length; at += 4) {
    samples.writeInt16LE(loudness, at);
    samples.writeInt16LE(-loudness, at + 2);
  }
  return samples;
};

test('loud, quiet, loud, in parts of any size → the pauses of 0.2 s or more, the last one to the end', () => {
  const audio = Buffer.concat([sound(3_000, 1_000), sound(400, 500), sound(700, 300), sound(0, 190), sound(700, 10)]);
  for (const bytes of [2, 1_000, 1_000_000]) {
    const meter = new LoudnessMeter();
    for (let at = 0; at < audio.length; at += bytes) meter.push(audio.subarray(at, at + bytes));
    meter.push(sound(0, 700));
    expect(meter.end().silences).toEqual([
      // The filter rings for a step.
      { startMs: 1_010, endMs: 1_500 },
      { startMs: 2_000, endMs: 2_700 },
    ]);
  }
});

test('the loudest sample there is, below zero → no silence', () => {
  const meter = new LoudnessMeter();
  meter.push(sound(-32_768 + 1, 300));
  meter.push(Buffer.from(Int16Array.from({ length: 4_000 }, (_, at) => (at % 2 === 0 ? 0 : -32_768)).buffer));
  expect(meter.end().silences).toEqual([]);
});
