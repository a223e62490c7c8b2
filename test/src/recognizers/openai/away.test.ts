/** Servers that are away, or might as well be. */
import { createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { createSpeechClient } from '../../../../src/recognizers/openai/client.ts';
import { createOpenAi } from '../../../../src/recognizers/openai/openai.ts';
import { asRecognizerInput, ffmpeg, sine } from '../../../support/uploads/audio-fixtures.ts';
import { startSpeechServer } from '../../../support/models/speech-server.ts';
import { useFolder } from '../../../support/use-folder.ts';
import { until } from '../../../support/until.ts';
import type { AddressInfo } from 'node:net';

const [apiKey, model] = ['sk-proj-0123456789abcdefSECRET', 'whisper-1'];
const fine = { status: 200, body: { text: 'fine', words: [{ word: 'fine', start: 0.1, end: 0.4 }] } };

const folder = useFolder();
const closing: { close(): Promise<void> }[] = [];
afterEach(() => Promise.all(closing.splice(0).map((each) => each.close())));

test('a server that is away → a notice, and RecognizerError that says so, retryable; back again → the next recording is recognized', async () => {
  const placeholder = createServer().listen(0, '127.0.0.1');
  await once(placeholder, 'listening');
  const { port } = placeholder.address() as AddressInfo;
  placeholder.close();
  await once(placeholder, 'close');
  const server = { baseUrl: `http://127.0.0.1:${port}/v1`, apiKey, model };
  const recognizer = createOpenAi({ server, retries: 1 });
  closing.push(recognizer);
  expect(recognizer.notice!()).toBeUndefined();
  await recognizer.check();
  const message = `127.0.0.1:${port} could not be reached: connect ECONNREFUSED 127.0.0.1:${port}`;
  expect(recognizer.notice!()).toBe(message);
  const file = await ffmpeg(...sine(2), ...asRecognizerInput, join(folder, 'decoded'));
  const hear = () =>
    recognizer.recognize({ file, durationMs: 2000, silences: [] }, { signal: new AbortController().signal });
  await expect(hear()).rejects.toMatchObject({ code: 'recognizer_error', retryable: true, message });
  closing.push(await startSpeechServer({ port, script: () => fine }));
  await until(recognizer.notice!, (said) => said === undefined);
  expect((await hear()).segments).toHaveLength(1);
});

test('a server that takes connections and never answers → could not be reached, once it was waited for', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  closing.push({ close: async () => void silent.close() });
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const client = createSpeechClient({ baseUrl: `http://127.0.0.1:${port}/v1`, apiKey, model }, 0);
  closing.push(client);
  expect(await client.refusesKey(AbortSignal.timeout(50))).toBe(false);
  expect(client.unreachable()).toMatch(/^127\.0\.0\.1:\d+ could not be reached: .*timeout/);
});
