/** What becomes of an upload that is accepted: session, reservation, job and audio, its title and what its form says. */
import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { titleOf } from '../../handlers/createTranscription.ts';
import { row } from '../support/service/jobs.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { useAccount, useService } from '../support/service/use-service.ts';
import { boundary, closing, filePart, form, formType } from '../support/uploads/uploads.ts';
import { part, textPart, tone, traces } from '../support/uploads/uploads.ts';
import type { Accepted } from '../support/service/jobs.ts';

const uuidv7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const service = await useService();
const account = await useAccount(service);
const audio = await tone(100);

async function send(body: Buffer, type = formType): Promise<Accepted> {
  const request = service.post('/v1/transcriptions', account.key).set('Content-Type', type);
  return (await request.send(body).expect(202)).body as Accepted;
}

/** The session of an upload, as its client reads it. */
async function sessionOf(body: Buffer) {
  const { sessionId } = await send(body);
  return (await service.get(`/v1/sessions/${sessionId}`, account.key).expect(200)).body;
}

test('an upload → 202 with Location, Retry-After and the job; session, reservation, job and audio are there', async () => {
  const owner = await makeAccount(service.db, { balanceMs: 60_000 });
  const bytes = await tone(1_500);
  const response = await service.post('/v1/transcriptions', owner.key).attach('file', bytes, 'Tone.wav').expect(202);
  const { sessionId, jobId } = response.body as Accepted;
  expect(response.body).toEqual({
    sessionId: expect.stringMatching(uuidv7),
    jobId: expect.stringMatching(uuidv7),
    status: 'queued',
  });
  expect(response.headers).toMatchObject({
    location: `/v1/sessions/${sessionId}`,
    'retry-after': expect.stringMatching(/^[1-9]\d*$/),
    'content-type': 'application/json',
    'cache-control': 'no-store',
  });
  expect(response.headers).not.toHaveProperty('idempotency-replayed');

  expect(await traces(service, owner)).toEqual({
    ...{ sessions: 1, jobs: 1, records: 0, reservedMs: 1_500, balanceMs: 60_000 },
    ...{ stored: [sessionId], incoming: [] },
  });
  expect(await row(service, owner, sessionId)).toMatchObject({ job_id: jobId, reserved_ms: 1_500, attempt: 0 });
  const { body: session } = await service.get(response.headers.location!, owner.key).expect(200);
  expect(session).toEqual({
    ...{ id: sessionId, status: 'queued', title: 'Tone', durationMs: 1_500 },
    createdAt: expect.any(String),
  });

  // For the owner of the process only.
  const path = join(service.dataDir, 'audio', owner.id, sessionId);
  expect((await readFile(path)).equals(bytes)).toBe(true);
  const mode = async (file: string) => ((await stat(file)).mode & 0o777).toString(8);
  expect([await mode(path), await mode(dirname(path)), await mode(join(service.dataDir, 'audio'))]).toEqual([
    ...['600', '700', '700'],
  ]);
});

const withBoundary = (other: string) =>
  Buffer.from(form(filePart(audio)).toString('latin1').replaceAll(boundary, other), 'latin1');
const manyHeaders = Array.from({ length: 500 }, (_, i) => `X-${i}: y`);
test.each<[string, Buffer, string]>([
  [
    'a preamble, an epilogue and a quoted boundary (RFC 2046, section 5.1.1)',
    Buffer.concat([Buffer.from('preamble\r\n'), filePart(audio), closing, Buffer.from('epilogue\r\n')]),
    `multipart/form-data; boundary="${boundary}"`,
  ],
  ['characters in its boundary that no token has', withBoundary('x:/=?'), 'multipart/form-data; boundary=x:/=?'],
  [
    'hundreds of part headers, which say nothing',
    form(part([...manyHeaders, 'Content-Disposition: form-data; name="file"; filename="a.wav"'], audio)),
    formType,
  ],
])('a form with %s → accepted', async (_, body, type) => {
  expect(await send(body, type)).toMatchObject({ status: 'queued' });
});

test.each<[string, string[]]>([
  ['alone', []],
  ['with the type of text', ['Content-Type: text/plain; charset=us-ascii']],
])('a part `file` without a file name, %s, of any size → 202, called "Untitled"', async (_, headers) => {
  for (const ms of [10, 10_000]) {
    const file = part(['Content-Disposition: form-data; name="file"', ...headers], await tone(ms));
    expect(await sessionOf(form(file))).toMatchObject({ title: 'Untitled', durationMs: ms });
  }
});

test.each([
  ['in UTF-8', 'Besprechung für Übermorgen — 会議 🎙️.m4a', 'Besprechung für Übermorgen — 会議 🎙️'],
  ['with a path', '../../etc/passwd', 'passwd'],
  ['with a line break, as browsers escape it', 'one%0D%0Atwo.wav', 'onetwo'],
])('a file name %s → the title, and nothing else, comes from it', async (_, fileName, title) => {
  expect(await sessionOf(form(filePart(audio, fileName)))).toMatchObject({ title });
});

test.each<[title: string | undefined, fileName: string, expected: string]>([
  [undefined, '/home/me/Board meeting.mp3', 'Board meeting'],
  [undefined, 'archive.tar.gz', 'archive.tar'],
  [undefined, 'v1.2 final', 'v1.2 final'],
  [undefined, '.mp3', 'Untitled'],
  [undefined, '', 'Untitled'],
  [undefined, '  spaces  .ogg', 'spaces'],
  [undefined, 'a\u0000b\u0007\r\n\tc\u007f\u0085.mp3', 'abc'],
  [undefined, '\u202egpj.exe\u202c\u2066.mp3', 'gpj.exe'],
  [undefined, 'lone \ud83d surrogate.mp3', 'lone \ufffd surrogate'],
  [undefined, `${'a'.repeat(300)}.mp3`, 'a'.repeat(255)],
  ['  Call 4711.2  ', 'minutes.mp3', 'Call 4711.2'],
  ['\u202eexe.tpircs', 'minutes.mp3', 'exe.tpircs'],
  [' \u200e ', 'minutes.mp3', 'minutes'],
])('the title %j and the file name %j → %j', (title, fileName, expected) => {
  expect(titleOf(title, fileName)).toBe(expected);
});

test('title and reference of the form → those of the session, in lists as well', async () => {
  const [title, reference] = ['Budget 2027 — first draft', 'TICKET-4711 / ü'];
  const body = form(textPart('title', ` ${title} `), filePart(audio, 'fakepath.wav'), textPart('reference', reference));
  const session = await sessionOf(body);
  expect(session).toMatchObject({ title, reference });
  const { body: list } = await service.get('/v1/sessions?limit=1', account.key);
  expect(list.items).toEqual([session]);
});

type Field = [name: string, value: string];
const terms = (count: number): Field[] =>
  Array.from({ length: count }, (_, index) => ['keyterms', `${index} `.padEnd(60, '語')]);

test.each<[string, Field[], object]>([
  ['nothing', [], { language: null, speakers: null, keyterms: null }],
  ['a language', [['language', 'DEU']], { language: 'de' }],
  ['a language with a script', [['language', 'zh-hant']], { language: 'zh-Hant' }],
  ['20 speakers', [['speakers', '20']], { speakers: 20 }],
  ['keyterms that are SQL', [['keyterms', `{"a",'b\\'}`], ['keyterms', 'null, "é"']], { keyterms: [`{"a",'b\\'}`, 'null, "é"'] }], // prettier-ignore
  ['100 keyterms of 60 characters', terms(100), { keyterms: terms(100).map(([, term]) => term) }],
])('a form with %s → stored; the language is answered in its canonical spelling', async (_, fields, expected) => {
  const session = await sessionOf(form(...fields.map(([name, value]) => textPart(name, value)), filePart(audio)));
  const stored = await row(service, account, String(session.id));
  expect(stored).toMatchObject(expected);
  expect(session.language).toBe(stored.language ?? undefined);
  expect(session).not.toHaveProperty('keyterms');
});
