import { openAsBlob } from 'node:fs';
import { appendFile, mkdir, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TranscriptionClient } from '../../../scripts/client/index.ts';
import { RecognizerError } from '../../../src/recognizers/recognizer.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { says, ScriptedRecognizer } from '../../support/models/scripted-recognizer.ts';
import { speechClips } from '../../support/uploads/audio-fixtures.ts';
import { tone, traces } from '../../support/uploads/uploads.ts';
import { useFolder } from '../../support/use-folder.ts';
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

const clientOf = async (account = makeAccount(service.db)) =>
  new TranscriptionClient({ url: `${service.url}/v1`, apiKey: (await account).key });

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

test.each<[string, (path: string) => Promise<unknown>]>([
  ['grew', (path) => appendFile(path, 'more')],
  ['shrank', (path) => truncate(path, 100)],
  ['is a folder', (path) => rm(path).then(() => mkdir(path))],
])('a file that %s when it is sent → NotReadable, nothing is accepted, and the process goes on', async (_, change) => {
  const path = join(useFolder(), 'talk.wav');
  await writeFile(path, await tone(500));
  const file = await openAsBlob(path);
  await change(path);
  const account = await makeAccount(service.db);
  const client = await clientOf(Promise.resolve(account));
  await expect(client.upload(file)).rejects.toMatchObject({ name: 'NotReadable' });
  expect(await traces(service, account)).toMatchObject({ sessions: 0, jobs: 0, records: 0, reservedMs: 0 });
});
