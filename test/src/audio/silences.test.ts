import { join } from 'node:path';
import { decodeAudio } from '../../../src/audio/decode.ts';
import { readSilences } from '../../../src/audio/silences.ts';
import { ffmpeg, noise, silence } from '../../support/uploads/audio-fixtures.ts';
import { useFolder } from '../../support/use-folder.ts';

const folder = useFolder();
const silencesIn = (output: string, durationMs: number) => {
  const reader = readSilences();
  reader.push(Buffer.from(output));
  return reader.silences(durationMs);
};

test('what ffmpeg prints → silences in ms; one that the audio ends with ends there', () => {
  const output = [
    'frame:1    pts:1600    pts_time:0.1',
    'lavfi.silence_start=-0.05',
    'frame:9    pts:16000   pts_time:1',
    'lavfi.silence_end=0.75',
    'lavfi.silence_duration=0.8',
    'lavfi.silence_start=2.5004',
  ];
  expect(silencesIn(output.join('\n'), 3000)).toEqual([
    { startMs: 0, endMs: 750 },
    { startMs: 2500, endMs: 3000 },
  ]);
});

test('a silence beyond the end, an end without a start, other lines → left out', () => {
  expect(silencesIn('lavfi.silence_end=1\nlavfi.other_start=1\nrubbish\nlavfi.silence_start=5\n', 3000)).toEqual([]);
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
