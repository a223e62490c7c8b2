/** What an upload says of its recording, from the upload to the recognizer, and what becomes of a language nobody knows. */
import { listLedger } from '../../../db/accounts/ledger.ts';
import { findSharedLanguages, shareLanguages } from '../../../db/leases.ts';
import { retrySession } from '../../../src/sessions/support.ts';
import { createSherpaOnnx } from '../../../src/recognizers/sherpa-onnx/sherpa-onnx.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { expectSound } from '../../support/service/audit.ts';
import { final, hurryRetries, row } from '../../support/service/jobs.ts';
import { ScriptedRecognizer, says } from '../../support/models/scripted-recognizer.ts';
import { useService } from '../../support/service/use-service.ts';
import { tone } from '../../support/uploads/uploads.ts';
import { until } from '../../support/until.ts';
import type { TestAccount } from '../../support/service/accounts.ts';
import type { Worker } from '../../../src/worker/worker.ts';

const service = await useService({ env: { RECOGNIZER_LANGUAGE: 'fr' } });
/** The default, which knows English only. */
const moonshine = createSherpaOnnx(service.config.sherpaOnnxModel);
afterAll(() => moonshine.close());
let account: TestAccount;
let worker: Worker;
beforeEach(async () => void (account = await makeAccount(service.db, { balanceMs: 60_000 })));
afterEach(async () => {
  await worker.stop();
  await expectSound(service);
});

async function uploaded(fields: Record<string, string | string[]>): Promise<string> {
  const request = service.post('/v1/transcriptions', account.key);
  for (const [name, values] of Object.entries(fields))
    for (const value of [values].flat()) void request.field(name, value);
  const { body } = await request.attach('file', await tone(1_000), 'tone.wav').expect(202);
  return body.sessionId as string;
}

test('Moonshine, once it has said what it knows, and language=de → 422 with that, and nothing is kept or reserved; a repeat is answered as before', async () => {
  const upload = (key: string) =>
    service
      .post('/v1/transcriptions', account.key)
      .set('Idempotency-Key', key)
      .field('language', 'de')
      .attach('file', speech, 'tone.wav');
  const speech = await tone(1_000);
  const { body: first } = await upload('before').expect(202);
  worker = await service.work(moonshine);
  await until(async () => (await findSharedLanguages(service.db)) !== undefined);
  const { body } = await upload('after').expect(422);
  expect(body).toMatchObject({
    ...{ code: 'language_not_supported', knownLanguages: ['en'] },
    detail: 'The recognizer does not know the language that was asked for. It knows: en.',
  });
  expect((await upload('before').expect(202)).body).toEqual(first);
  const { sessionId } = (
    await service.post('/v1/transcriptions', account.key).field('language', 'EN-gb').attach('file', speech).expect(202)
  ).body;
  expect((await service.get('/v1/sessions', account.key).expect(200)).body.items).toMatchObject([
    { id: sessionId },
    { id: first.sessionId },
  ]);
  await Promise.all([first.sessionId, sessionId].map((id: string) => final(service, account, id)));
});

test('language, speakers and keyterms → told to the recognizer; without a language, the one of RECOGNIZER_LANGUAGE', async () => {
  const recognizer = new ScriptedRecognizer(async () => ({ ...says('bonjour'), language: 'fr-CA' }));
  worker = await service.work(recognizer);
  const told = await uploaded({ language: 'de-at', speakers: '3', keyterms: ['Okapi', 'Zebra'] });
  expect(await final(service, account, told)).toMatchObject({ status: 'completed', language: 'de-AT' });
  expect(recognizer.calls[0]!.options).toMatchObject({ language: 'de-AT', speakers: 3, keyterms: ['Okapi', 'Zebra'] });
  const untold = await uploaded({});
  expect(await final(service, account, untold)).toMatchObject({ status: 'completed', language: 'fr-CA' });
  expect(recognizer.calls[1]!.options).toMatchObject({ language: 'fr', speakers: undefined, keyterms: undefined });
});

test('Moonshine and language=de → failed once and for all, uncharged, with the languages that it knows; support may try again', async () => {
  worker = await service.work(moonshine);
  // Another worker may know more.
  await shareLanguages(service.db, undefined);
  const id = await uploaded({ language: 'de' });
  const error = {
    code: 'language_not_supported',
    message: 'The recognizer does not know the language that was asked for. It knows: en.',
  };
  expect(await final(service, account, id)).toMatchObject({ status: 'failed', language: 'de', error, segments: [] });
  expect((await service.get(`/v1/sessions/${id}`, account.key).expect(200)).body).toMatchObject({ error });
  expect(await row(service, account, id)).toMatchObject({ attempt: 1, reserved_ms: 0 });
  expect((await listLedger(service.db, account.id)).map(({ kind }) => kind)).toEqual(['credit']);
  expect(service.logLines.filter((line) => (JSON.parse(line) as { level: number }).level >= 50)).toEqual([]);

  await worker.stop();
  expect(await retrySession(service, account.id, id)).toEqual({ kind: 'queued' });
  const recognizer = new ScriptedRecognizer();
  worker = await service.work(recognizer);
  expect(await final(service, account, id)).toMatchObject({ status: 'completed', language: 'de' });
  expect(recognizer.calls[0]!.options).toMatchObject({ language: 'de' });
  expect(await row(service, account, id)).toMatchObject({ error_code: null, known_languages: null });
});

test('a RECOGNIZER_LANGUAGE that the recognizer does not know → no session is refused, and no attempt spent', async () => {
  worker = await service.work(moonshine);
  const id = await uploaded({});
  const said = () => service.logLines.filter((line) => line.includes('the attempt is not spent') && line.includes(id));
  await until(() => said().length > 0);
  expect(said()[0]).toContain('RECOGNIZER_LANGUAGE: the recognizer does not know the language fr');
  expect(
    await until(
      () => row(service, account, id),
      ({ status }) => status === 'queued',
    ),
  ).toMatchObject({
    ...{ attempts_left: 3, error_code: null },
  });
  await worker.stop();
  worker = await service.work(new ScriptedRecognizer());
  await hurryRetries(service);
  expect(await final(service, account, id)).toMatchObject({ status: 'completed' });
});
