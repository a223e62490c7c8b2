/** What makes a transcript less than it could be, from the audio and the recognizer to the client. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { warningsOf } from '../../../src/worker/transcription.ts';
import { final } from '../../support/service/jobs.ts';
import { ScriptedRecognizer, says } from '../../support/models/scripted-recognizer.ts';
import { useAccount, useService } from '../../support/service/use-service.ts';
import { ffmpeg, noise } from '../../support/uploads/audio-fixtures.ts';
import { useFolder } from '../../support/use-folder.ts';
import type { Span } from '../../../src/audio/chunks.ts';

const service = await useService();
const account = await useAccount(service);
const folder = useFolder();
let uncertain: Span[] = [];
/** What lasts so many seconds has no word in it. */
const soundOfAComputerS = 7;
beforeAll(() =>
  service.work(
    new ScriptedRecognizer(async ({ options, durationMs }) => {
      if (Math.floor(durationMs / 1_000) === soundOfAComputerS) return { segments: [] };
      for (const stretch of uncertain) options.onUncertain?.({ ...stretch, why: 'no words' });
      return says('hello world');
    }),
  ),
);

async function transcribed(file: string, fields: Record<string, string> = {}) {
  const { body } = await service.post('/v1/transcriptions', account.key).field(fields).attach('file', file).expect(202);
  const id = body.sessionId as string;
  const transcript = await final(service, account, id);
  return { id, transcript, session: (await service.get(`/v1/sessions/${id}`, account.key)).body };
}

test('a file that ends early, and stretches without words → in session, transcript and Markdown', async () => {
  uncertain = [
    { startMs: 5_000, endMs: 6_000 },
    { startMs: 1_000, endMs: 2_500 },
  ];
  const whole = await readFile(await ffmpeg(...noise(10), join(folder, 'whole.flac')));
  const cut = join(folder, 'cut.flac');
  await writeFile(cut, whole.subarray(0, whole.length * 0.6));
  const { id, session, transcript } = await transcribed(cut);
  const message = expect.stringMatching(/^\S.*\.$/);
  const warnings = [
    { code: 'truncated', message },
    { code: 'speech_uncertain', message, startMs: 1_000, endMs: 2_500 },
    { code: 'speech_uncertain', message, startMs: 5_000, endMs: 6_000 },
  ];
  expect(session).toMatchObject({ status: 'completed', warnings });
  expect(transcript).toMatchObject({ status: 'completed', warnings });
  const { text } = await service.get(`/v1/sessions/${id}/transcript?format=md`, account.key).expect(200);
  expect(text).toMatch(/\n\n> The file ends before .*\n>\n> \*\*0:00:01 to 0:00:02\*\* Somebody speaks here/);
});

test('a track without a word, and another with sound → that one, which is charged', async () => {
  uncertain = [];
  const tracks = [...noise(soundOfAComputerS), ...noise(3), '-map', '0', '-map', '1', '-c:a', 'flac'];
  const { session, transcript } = await transcribed(await ffmpeg(...tracks, join(folder, 'tracks.mkv')));
  expect(transcript.segments).toMatchObject([{ text: 'hello world' }]);
  expect(session).toMatchObject({ durationMs: 3_000, chargedMs: 3_000, warnings: [{ code: 'other_tracks_ignored' }] });
});

test('a WAV of Speex, which ffmpeg decodes wrongly → all of it is uncertain', async () => {
  uncertain = [];
  const { session } = await transcribed(await ffmpeg(...noise(3), '-c:a', 'libspeex', join(folder, 'speex.wav')));
  expect(session.warnings).toMatchObject([{ code: 'speech_uncertain', startMs: 0, endMs: session.durationMs }]);
});

test('more stretches than the list holds → near ones become one, and none is left out', () => {
  const many = Array.from({ length: 1_000 }, (_, index) => ({ startMs: index * 3_000, endMs: index * 3_000 + 1_000 }));
  const told = warningsOf([], many);
  expect(told.length).toBeLessThanOrEqual(50);
  expect(told[0]).toMatchObject({ startMs: 0 });
  expect(told.at(-1)).toMatchObject({ endMs: 2_998_000 });
});
