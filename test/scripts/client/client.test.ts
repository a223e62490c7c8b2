import { openAsBlob } from 'node:fs';
import { TranscriptionClient } from '../../../scripts/client/index.ts';
import { RecognizerError } from '../../../src/recognizers/recognizer.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { says, ScriptedRecognizer } from '../../support/models/scripted-recognizer.ts';
import { speechClips } from '../../support/uploads/audio-fixtures.ts';
import { useService } from '../../support/service/use-service.ts';

const service = await useService();
let recording: Blob;
beforeAll(async () => {
  const recognizer = new ScriptedRecognizer(async ({ options }) => {
    if (options.language === 'de') throw new RecognizerError('recognizer_error', 'no', { retryable: false });
    return says('hello world');
  });
  await service.work(recognizer);
  recording = await openAsBlob((await speechClips())[1]!.file);
});

const clientOf = async () =>
  new TranscriptionClient({ url: `${service.url}/v1`, apiKey: (await makeAccount(service.db)).key });

test('a recording → uploaded once, waited for, and found by what it says', async () => {
  const client = await clientOf();
  const options = { idempotencyKey: 'one recording' };
  const fields = { title: 'Greeting', speakers: 2, keyterms: ['hello', 'world'] };
  const { sessionId } = await client.upload(recording, fields, options);
  expect((await client.upload(recording, fields, options)).sessionId).toBe(sessionId);

  const transcript = await client.wait(sessionId, { words: true });
  expect(transcript.segments).toMatchObject([{ text: 'hello world', words: [{ text: 'hello' }, { text: 'world' }] }]);
  const found = await Array.fromAsync(client.pages({ q: 'hello' }));
  expect(found).toMatchObject([{ items: [{ id: sessionId, title: 'Greeting', matches: [{ text: 'hello world' }] }] }]);
});

test('pages → all of them, in their order', async () => {
  const client = await clientOf();
  const made: string[] = [];
  for (let i = 0; i < 3; i += 1) made.push((await client.upload(recording)).sessionId);
  const pages = await Array.fromAsync(client.pages({ limit: 1 }));
  expect(pages.map(({ items }) => items.map(({ id }) => id))).toEqual(made.toReversed().map((id) => [id]));
});

test('what is refused → its problem; an end by the caller → his reason', async () => {
  const client = await clientOf();
  await expect(client.upload(new Blob(['no audio']))).rejects.toMatchObject({
    ...{ name: 'RequestFailed', status: 415, retry: 'change_request' },
    problem: { code: 'unsupported_media', errors: [{ in: 'body', name: 'file' }] },
  });
  const { sessionId } = await client.upload(recording);
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(client.wait(sessionId, { signal })).rejects.toThrow('enough');
});

test('a session that fails → its code', async () => {
  const client = await clientOf();
  const { sessionId } = await client.upload(recording, { language: 'de' });
  await expect(client.wait(sessionId)).rejects.toMatchObject({
    name: 'SessionFailed',
    sessionId,
    code: 'recognizer_error',
  });
});
