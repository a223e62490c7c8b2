import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeAccount } from '../support/service/accounts.ts';
import { row } from '../support/service/jobs.ts';
import { useService } from '../support/service/use-service.ts';
import { closing, filePart, form, formType, textPart, tone, traces } from '../support/uploads/uploads.ts';
import type { Accepted } from '../support/service/jobs.ts';

const uuidv7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const service = await useService();
let audio: Buffer;
beforeAll(async () => void (audio = await tone(1_500)));

test('an upload → 202 with Location, Retry-After and the job; session, reservation, job and audio are there', async () => {
  const account = await makeAccount(service.db, { balanceMs: 60_000 });
  const response = await service.post('/v1/transcriptions', account.key).attach('file', audio, 'Tone.wav').expect(202);
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

  expect(await traces(service, account)).toEqual({
    ...{ sessions: 1, jobs: 1, records: 0, reservedMs: 1_500, balanceMs: 60_000 },
    ...{ stored: [sessionId], incoming: [] },
  });
  expect(await row(service, account, sessionId)).toMatchObject({ job_id: jobId, reserved_ms: 1_500, attempt: 0 });
  const { body: session } = await service.get(response.headers.location!, account.key).expect(200);
  expect(session).toEqual({
    ...{ id: sessionId, status: 'queued', title: 'Tone', durationMs: 1_500 },
    createdAt: expect.any(String),
  });
});

test('an upload → its bytes are kept, for the owner of the process only', async () => {
  const account = await makeAccount(service.db);
  const { body } = await service.post('/v1/transcriptions', account.key).attach('file', audio, 'a.wav').expect(202);
  const path = join(service.dataDir, 'audio', account.id, (body as Accepted).sessionId);
  expect((await readFile(path)).equals(audio)).toBe(true);
  const mode = async (file: string) => ((await stat(file)).mode & 0o777).toString(8);
  expect([await mode(path), await mode(dirname(path)), await mode(join(service.dataDir, 'audio'))]).toEqual([
    ...['600', '700', '700'],
  ]);
});

test.each([
  ['before the file', () => form(textPart('durationMs', '1'), filePart(audio))],
  ['after the file', () => form(filePart(audio), textPart('durationMs', '1'))],
  ['at its largest', () => form(filePart(audio), textPart('durationMs', '2147483647'))],
])('durationMs %s → accepted, and the measured duration counts', async (_, body) => {
  const account = await makeAccount(service.db, { balanceMs: 2 ** 31 });
  const { body: accepted } = await service
    .post('/v1/transcriptions', account.key)
    .set('Content-Type', formType)
    .send(body())
    .expect(202);
  const session = await row(service, account, (accepted as Accepted).sessionId);
  expect(session).toMatchObject({ duration_ms: 1_500, reserved_ms: 1_500 });
});

test('a preamble, an epilogue and a quoted boundary (RFC 2046, section 5.1.1) → accepted', async () => {
  const account = await makeAccount(service.db);
  const body = Buffer.concat([Buffer.from('preamble\r\n'), filePart(audio), closing, Buffer.from('epilogue\r\n')]);
  const type = formType.replace(/boundary=(.*)/, 'boundary="$1"');
  await service.post('/v1/transcriptions', account.key).set('Content-Type', type).send(body).expect(202);
});
