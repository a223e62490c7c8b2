/** RECOGNIZER=openai, from the configuration to the transcript that a client reads. */
import { join } from 'node:path';
import { listLedger } from '../../../db/accounts/ledger.ts';
import { createOpenAi } from '../../../src/recognizers/openai/openai.ts';
import { selectRecognizer } from '../../../src/recognizers/select.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { ffmpeg, speechClips } from '../../support/uploads/audio-fixtures.ts';
import { expectSound } from '../../support/service/audit.ts';
import { final, row, upload } from '../../support/service/jobs.ts';
import { dumpTables } from '../../support/service/dump-tables.ts';
import { startTestService } from '../../support/service/service.ts';
import { refusal, startSpeechServer } from '../../support/models/speech-server.ts';
import { until } from '../../support/until.ts';
import type { Worker } from '../../../src/worker/worker.ts';
import type { TestAccount } from '../../support/service/accounts.ts';
import type { TestService } from '../../support/service/service.ts';
import type { Received, RunningSpeechServer, SpeechServerOptions } from '../../support/models/speech-server.ts';

const apiKey = 'sk-proj-0123456789abcdefSECRET';
const fine = { status: 200, body: { text: 'Here again.', segments: [{ start: 0.5, end: 1.5, text: 'Here again.' }] } };
let server: RunningSpeechServer;
let service: TestService;
let account: TestAccount;
let worker: Worker;

/** @param retries of each request, as many as usual without it; then where somebody speaks is not looked for */
async function begin(options: SpeechServerOptions, retries?: number): Promise<void> {
  server = await startSpeechServer(options);
  const env = { RECOGNIZER: 'openai', OPENAI_BASE_URL: server.url, OPENAI_API_KEY: apiKey, OPENAI_MODEL: 'small.en' };
  service = await startTestService({ env });
  account = await makeAccount(service.db, { balanceMs: 60_000 });
  const { config } = service;
  const recognizer =
    retries === undefined ? await selectRecognizer(config) : createOpenAi({ server: config.openai!, retries });
  await recognizer.check();
  worker = await service.work(recognizer);
}
afterEach(async () => {
  await expectSound(service);
  const stored = [...(await dumpTables(service.db)).values()].join('\n');
  expect(service.logLines.join('\n') + stored).not.toContain(apiKey);
  await service.stop();
  await server.close();
});

const charges = async () => (await listLedger(service.db, account.id)).map((entry) => entry.amount_ms);

test('an upload → the words that the server heard, with their times; charged', async () => {
  const words = [{ word: 'Here', start: 0.5, end: 0.9 }, { word: 'again', start: 0.9, end: 1.5 }]; // prettier-ignore
  await begin({ script: () => ({ status: 200, body: { language: 'english', text: 'Here again.', words } }) });
  const clip = (await speechClips()).sort((a, b) => a.durationMs - b.durationMs)[0]!;
  const { sessionId } = await upload(service, account, clip.file);
  const transcript = await final(service, account, sessionId);
  expect(transcript).toMatchObject({ status: 'completed', durationMs: clip.durationMs, language: 'en' });
  expect(transcript.segments).toMatchObject([{ text: 'Here again.', startMs: 500, endMs: 1_500 }]);
  const { body } = await service.get(`/v1/sessions/${sessionId}/transcript?include=words`, account.key).expect(200);
  expect(body.segments[0].words).toMatchObject([{ startMs: 500 }, { startMs: 900, text: 'again.' }]);
  expect(await charges()).toEqual([60_000, -clip.durationMs]);
  expect(server.requests.map(({ fields }) => fields['model'])).toEqual([['small.en']]);
  // What was said is the account's alone.
  expect(service.logLines.join('\n')).not.toContain('Here again');
});

test('a server that refuses → failed at once, uncharged; what it said is in the log and nowhere else', async () => {
  const said = `Quota of project 4711 is used up, ${apiKey}`;
  await begin({ script: ({ path }) => (path.endsWith('/models') ? refusal(404, 'none') : refusal(400, said)) });
  const { sessionId } = await upload(service, account, (await speechClips()).at(-1)!.file);
  const transcript = await final(service, account, sessionId);
  expect(transcript).toMatchObject({ status: 'failed', error: { code: 'recognizer_error' }, segments: [] });
  expect(await row(service, account, sessionId)).toMatchObject({ attempt: 1, reserved_ms: 0 });
  expect(await charges()).toEqual([60_000]);
  expect(server.requests).toHaveLength(1);

  const { body } = await service.get(`/v1/sessions/${sessionId}`, account.key).expect(200);
  const stored = [...(await dumpTables(service.db)).values()].join('\n');
  expect(JSON.stringify([transcript, body]) + stored).not.toContain('4711');
  const line = service.logLines.find((text) => text.includes('Quota of project 4711'));
  expect(JSON.parse(line!)).toMatchObject({ level: 50, sessionId, err: { type: 'RecognizerError' } });
});

test('a server without room → the worker takes no jobs and says so; the recordings wait, and no attempt is spent', async () => {
  let isFull = true;
  const full = {
    status: 429,
    headers: { 'retry-after': '6', 'x-ratelimit-remaining-requests': '0' },
    body: 'slow down',
  };
  await begin({ script: () => (isFull ? full : fine) });
  const clip = (await speechClips()).at(-1)!;
  const sessions = await Promise.all([1, 2, 3].map(() => upload(service, account, clip.file)));
  const why = await until(
    () => worker.notReadyReason(),
    (said) => said !== undefined,
  );
  expect(why).toMatch(/answered 429 slow down \(retry-after: 6\) \(x-ratelimit-remaining-requests: 0\)$/);
  const waiting = await service.metrics.registry.getSingleMetricAsString('transcription_worker_waiting');
  expect(waiting).toContain('{reason="busy"} 1');
  expect(service.logLines.join('\n')).toContain('slow down (retry-after: 6)');
  isFull = false;
  const rows = () => Promise.all(sessions.map(({ sessionId }) => row(service, account, sessionId)));
  await until(rows, (all) => all.every(({ status }) => status === 'completed'));
  await until(
    () => worker.notReadyReason(),
    (said) => said === undefined,
  );
  expect((await rows()).map(({ attempt, infrastructure_retries }) => [attempt, infrastructure_retries])).toEqual([[1, 0], [1, 0], [1, 0]]); // prettier-ignore
  expect((await charges()).toSorted()).toEqual([-clip.durationMs, -clip.durationMs, -clip.durationMs, 60_000]);
});

test('what the server refuses to the end → not heard, not charged, and a warning', async () => {
  const broken = { status: 500, body: 'CUDA out of memory' };
  const script = ({ file }: Received, earlier: number) => (file!.name !== 'silence.wav' && earlier > 0 ? broken : fine);
  await begin({ script }, 0);
  // Two beeps of 2 s, and so much silence between them that they are two chunks.
  const sound = "aevalsrc='if(lt(t,2)+gt(t,38),0.3*sin(2*PI*t*440),0)':s=16000:d=40";
  const { sessionId } = await upload(
    service,
    account,
    await ffmpeg('-f', 'lavfi', '-i', sound, join(service.dataDir, 'beeps.wav')),
  );
  const transcript = await final(service, account, sessionId);
  const { body } = await service.get(`/v1/sessions/${sessionId}`, account.key).expect(200);
  expect([transcript.status, body.warnings.length]).toEqual(['completed', 1]);
  const [{ code, startMs, endMs }] = body.warnings;
  expect({ code, chargedMs: body.chargedMs }).toEqual({
    code: 'speech_uncertain',
    chargedMs: 40_000 - (endMs - startMs),
  });
  expect(await charges()).toEqual([60_000, -body.chargedMs]);
});
