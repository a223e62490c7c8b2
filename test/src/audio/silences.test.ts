import { join } from 'node:path';
import { decodeAudio } from '../../../src/audio/decode.ts';
import { LoudnessMeter } from '../../../src/audio/loudness.ts';
import { ffmpeg, noise, silence } from '../../support/uploads/audio-fixtures.ts';
import { useFolder } from '../../support/use-folder.ts';

const folder = useFolder();
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

test('48 min with a pause each 0.24 s → all 12,000 of them', () => {
  const meter = new LoudnessMeter();
  const [word, pause] = [sound(3_000, 10), sound(0, 230)];
  for (let heard = 0; heard < 12_000; heard += 1) {
    meter.push(word);
    meter.push(pause);
  }
  expect(meter.end().silences).toHaveLength(12_000);
});

test('noise, silence, noise → the silence between them, and the audio as it was', async () => {
  const graph = '[0:a][1:a][2:a]concat=n=3:v=0:a=1';
  const inputs = [...noise(2), ...silence(1.5), ...noise(2)];
  const input = await ffmpeg(...inputs, '-filter_complex', graph, join(folder, 'made.wav'));
  const output = join(folder, 'decoded');
  const decoded = await decodeAudio({ input, output, maxDurationMs: 60_000, timeLimitMs: 30_000 });
  expect(decoded.durationMs).toBe(5500);
  expect(decoded.silences).toHaveLength(1);
  expect(Math.abs(decoded.silences[0]!.startMs - 2000)).toBeLessThanOrEqual(50);
  expect(Math.abs(decoded.silences[0]!.endMs - 3500)).toBeLessThanOrEqual(50);
});
