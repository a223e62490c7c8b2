import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeAccount } from '../support/service/accounts.ts';
import { ffmpeg, pictures, sine } from '../support/uploads/audio-fixtures.ts';
import { withFfmpeg } from '../support/faults/fake-programs.ts';
import { row } from '../support/service/jobs.ts';
import { useService } from '../support/service/use-service.ts';
import { expectNothingLeft, tone, traces } from '../support/uploads/uploads.ts';
import { useFolder } from '../support/use-folder.ts';

const media: Record<string, Buffer> = {};
const service = await useService();
const folder = useFolder();
beforeAll(async () => {
  const make = async (name: string, ...args: string[]) => {
    media[name] = await readFile(await ffmpeg(...args, join(folder, name)));
  };
  const secret = join(folder, 'secret.wav');
  await writeFile(secret, await tone(1_000));
  await make('video.mp4', ...pictures(1));
  await make('picture.png', ...pictures(1), '-frames:v', '1');
  await make('tone.mp3', ...sine(2));
  media['list.m3u8'] = Buffer.from(`#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n${secret}\n#EXT-X-ENDLIST\n`);
  media['list.ffconcat'] = Buffer.from(`ffconcat version 1.0\nfile '${secret}'\n`);
  media['list.sdp'] = Buffer.from(
    'v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio 9 RTP/AVP 0\n',
  );
  media['words.txt'] = Buffer.from('This is a text about nothing in particular.\n'.repeat(100));
  media['garbage.mp3'] = Buffer.from(Array.from({ length: 50_000 }, (_, i) => (i * i * 31 + i) % 256));
  media['header.wav'] = (await tone(100)).subarray(0, 20);
});

const send = (key: string, name: string) =>
  service.post('/v1/transcriptions', key).set('Idempotency-Key', 'refused').attach('file', media[name]!, name);

test.each([
  ['garbage.mp3', 415, 'unsupported_media'],
  ['words.txt', 415, 'unsupported_media'],
  ['header.wav', 415, 'unsupported_media'],
  ['list.m3u8', 415, 'unsupported_media'],
  ['list.ffconcat', 415, 'unsupported_media'],
  ['list.sdp', 415, 'unsupported_media'],
  ['video.mp4', 422, 'no_audio_track'],
  ['picture.png', 422, 'no_audio_track'],
])('%s → %s %s, nothing is left', async (name, status, code) => {
  const account = await makeAccount(service.db);
  const before = await traces(service, account);
  const response = await send(account.key, name);
  expect([response.status, response.body.code]).toEqual([status, code]);
  if (status === 415) expect(response.body.errors).toMatchObject([{ in: 'body', name: 'file' }]);
  expect(response.text).not.toMatch(/ffmpeg|incoming|secret/);
  await expectNothingLeft(service, account, before);
});

test('audio that is longer than the account may send → 422 with the limit, nothing is left', async () => {
  const account = await makeAccount(service.db, { limits: { max_audio_ms: 1_000 } });
  const before = await traces(service, account);
  const { body } = await send(account.key, 'tone.mp3').expect(422);
  expect(body).toMatchObject({ code: 'audio_too_long', limitMs: 1_000 });
  await expectNothingLeft(service, account, before);
});

test.each([
  ['the hint', 'durationMs', '3600000', 3_600_000],
  ['the measurement', undefined, '', 2_000],
  ['the measurement, whatever the hint', 'durationMs', '1', 2_000],
])('a balance too small by %s → 402 with what is there and what is needed', async (_, field, value, requiredMs) => {
  const account = await makeAccount(service.db, { balanceMs: 1_500 });
  const before = await traces(service, account);
  const request = send(account.key, 'tone.mp3');
  const { body } = await (field === undefined ? request : request.field(field, value)).expect(402);
  expect(body).toMatchObject({ code: 'insufficient_balance', availableMs: 1_500 });
  expect(Math.abs(Number(body.requiredMs) - requiredMs)).toBeLessThanOrEqual(100);
  await expectNothingLeft(service, account, before);
});

test('a balance of exactly the measured duration → accepted, all of it reserved', async () => {
  const account = await makeAccount(service.db, { balanceMs: 1_000 });
  await service
    .post('/v1/transcriptions', account.key)
    .attach('file', await tone(1_000), 'a.wav')
    .expect(202);
  expect(await traces(service, account)).toMatchObject({ reservedMs: 1_000, balanceMs: 1_000 });
});

test.each([
  ['the longest audio of the account', 100_000, 60_000],
  ['all that is available, when that is less', 40_000, 40_000],
])('audio that can not be measured → %s is reserved', async (_, balanceMs, reservedMs) => {
  const account = await makeAccount(service.db, { balanceMs, limits: { max_audio_ms: 60_000 } });
  const { body } = await withFfmpeg('kill -XCPU $$', async () => send(account.key, 'tone.mp3').expect(202));
  const session = await row(service, account, String(body.sessionId));
  expect(session).toMatchObject({ duration_ms: null, reserved_ms: reservedMs });
  expect(await traces(service, account)).toMatchObject({ reservedMs });
});

test.each([
  ['a machine without a working ffmpeg', 'echo secret-from-inside >&2; exit 127'],
  ['ffmpeg is killed, as where memory runs out', 'echo secret-from-inside >&2; kill -KILL $$'],
])('%s → 503 that says nothing from inside, nothing is left', async (_, broken) => {
  const account = await makeAccount(service.db);
  const before = await traces(service, account);
  const response = await withFfmpeg(broken, async () => send(account.key, 'tone.mp3'));
  expect([response.status, response.body.code]).toEqual([503, 'unavailable']);
  expect(response.headers['retry-after']).toBe('5');
  expect(response.text).not.toMatch(/ffmpeg|secret/);
  await expectNothingLeft(service, account, before);
});
