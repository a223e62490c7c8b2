import { useAccount, useService } from '../support/service/use-service.ts';
import { filePart, form, formType, part, textPart, tone } from '../support/uploads/uploads.ts';

const service = await useService();
const account = await useAccount(service);
let audio: Buffer;
beforeAll(async () => {
  audio = await tone(100);
});

/** The session of an upload, as its client reads it. */
async function sessionOf(body: Buffer) {
  const { body: accepted } = await service
    .post('/v1/transcriptions', account.key)
    .set('Content-Type', formType)
    .send(body)
    .expect(202);
  const { body: session } = await service.get(`/v1/sessions/${String(accepted.sessionId)}`, account.key).expect(200);
  return session;
}

test.each<[string, string[]]>([
  ['alone', []],
  ['with a type of its own', ['Content-Type: audio/wav']],
  ['with the type of binary data', ['Content-Type: application/octet-stream']],
  ['with the type of text', ['Content-Type: text/plain; charset=us-ascii']],
])('a part `file` without a file name, %s, of any size → 202, called "Untitled"', async (_, headers) => {
  const duration = textPart('durationMs', '1000');
  for (const ms of [10, 10_000]) {
    const file = part(['Content-Disposition: form-data; name="file"', ...headers], await tone(ms));
    for (const body of [form(file), form(duration, file), form(file, duration)]) {
      expect(await sessionOf(body)).toMatchObject({ title: 'Untitled', durationMs: ms });
    }
  }
});

test.each([
  ['with an extension', 'Board meeting.mp3', 'Board meeting'],
  ['without one', 'interview', 'interview'],
  ['in UTF-8', 'Besprechung für Übermorgen — 会議 🎙️.m4a', 'Besprechung für Übermorgen — 会議 🎙️'],
  ['with a path', '../../etc/passwd', 'passwd'],
  ['with a Windows path', 'C:\\fakepath\\memo.wav', 'memo'],
  ['that is only an extension', '.mp3', 'Untitled'],
  ['that is only a folder', '/', 'Untitled'],
  ['with a quote, as curl escapes it', 'say \\"hi\\".wav', 'say "hi"'],
  ['with a quote, as browsers escape it', 'say %22hi%22.wav', 'say "hi"'],
  ['with a line break, as browsers escape it', 'one%0D%0Atwo.wav', 'onetwo'],
  ['with a per cent sign', '50% off.wav', '50% off'],
  ['with marks that turn the direction of text', 'a\u202egpj\u2066.wav', 'agpj'],
  ['of 300 characters', `${'x'.repeat(296)}.wav`, 'x'.repeat(255)],
  ['of 300 emoji', `${'🎧'.repeat(296)}.wav`, '🎧'.repeat(255)],
  ['with markup', '<script>alert(1)<.svg', '<script>alert(1)<'],
])('a file name %s → the title, and nothing else, comes from it', async (_, fileName, title) => {
  expect(await sessionOf(form(filePart(audio, fileName)))).toMatchObject({ title });
});

test('title and reference of the form → those of the session, in lists as well', async () => {
  const [title, reference] = ['Budget 2027 — first draft', 'TICKET-4711 / ü'];
  const body = form(textPart('title', ` ${title} `), filePart(audio, 'fakepath.wav'), textPart('reference', reference));
  const session = await sessionOf(body);
  expect(session).toMatchObject({ title, reference });
  const { body: list } = await service.get('/v1/sessions?limit=1', account.key);
  expect(list.items).toEqual([session]);
});

test('file names, titles and references → never in the log', () => {
  const log = service.logLines.join('');
  expect(log).toContain('createTranscription');
  expect(log).not.toMatch(/Board meeting|passwd|fakepath|alert\(1\)|xxxxx|Budget|TICKET/);
});
