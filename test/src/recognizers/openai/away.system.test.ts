/** Servers that are away, or might as well be. */
import { createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { SpeechClient } from '../../../../src/recognizers/openai/client.ts';
import { createOpenAi } from '../../../../src/recognizers/openai/openai.ts';
import { steadyPort } from '../../../rig/ports.ts';
import { asRecognizerInput, ffmpeg, sine } from '../../../support/uploads/audio-fixtures.ts';
import { refusal, startSpeechServer } from '../../../support/models/speech-server.ts';
import { useFolder } from '../../../support/use-folder.ts';
import { until } from '../../../support/until.ts';
import type { AddressInfo } from 'node:net';
import type { Recognizer, Transcript } from '../../../../src/recognizers/recognizer.ts';

const [apiKey, model] = ['sk-proj-0123456789abcdefSECRET', 'whisper-1'];
const fine = { status: 200, body: { text: 'fine', words: [{ word: 'fine', start: 0.1, end: 0.4 }] } };

const folder = useFolder();
const closing: { close(): Promise<void> }[] = [];
afterEach(() => Promise.all(closing.splice(0).map((each) => each.close())));

/** Two seconds that sound, and what becomes of them. */
async function hear(recognizer: Recognizer, name: string): Promise<Transcript> {
  const file = await ffmpeg(...sine(2), ...asRecognizerInput, join(folder, name));
  return recognizer.recognize({ file, durationMs: 2000, silences: [] }, { signal: new AbortController().signal });
}

test('a server that is away → a notice, and RecognizerError that says so, retryable; back again → the next recording is recognized', async () => {
  const port = await steadyPort();
  const server = { baseUrl: `http://127.0.0.1:${port}/v1`, apiKey, model };
  const recognizer = createOpenAi({ server, retries: 1 });
  closing.push(recognizer);
  expect(recognizer.notice!()).toBeUndefined();
  await recognizer.check();
  const message = `127.0.0.1:${port} could not be reached: connect ECONNREFUSED 127.0.0.1:${port}`;
  expect(recognizer.notice!()).toBe(message);
  await expect(hear(recognizer, 'away')).rejects.toMatchObject({ code: 'recognizer_error', retryable: true, message });
  expect(await recognizer.whyAway!()).toEqual({ reason: 'server', message });
  closing.push(await startSpeechServer({ port, script: () => fine }));
  await until(
    () => recognizer.whyAway!(),
    (said) => said === undefined,
  );
  expect(recognizer.notice!()).toBeUndefined();
  expect((await hear(recognizer, 'back')).segments).toHaveLength(1);
});

test('a server that takes connections and never answers → could not be reached, once it was waited for', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  closing.push({ close: async () => void silent.close() });
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const client = new SpeechClient({ baseUrl: `http://127.0.0.1:${port}/v1`, apiKey, model }, 0);
  closing.push(client);
  expect(await client.refusesKey(AbortSignal.timeout(50))).toBe(false);
  expect(client.unreachable()).toMatch(/^127\.0\.0\.1:\d+ could not be reached: .*timeout/);
});

const isUpload = (path: string) => path.endsWith('/audio/transcriptions');
const without = { status: 404, body: 'Not Found' };

test.each([502, 503, 504])(
  '%i for a recording, as proxies say for a server that is gone → away, until it hears again, whatever they say of the rest',
  async (status) => {
    let isBack = false;
    const server = await startSpeechServer({
      script: ({ path }) => (!isUpload(path) ? without : isBack ? fine : { status, body: 'Bad Gateway' }),
    });
    const recognizer = createOpenAi({ server: { baseUrl: server.url, apiKey, model }, retries: 0 });
    closing.push(server, recognizer);
    // Nobody asked yet, so nobody knows.
    expect(await recognizer.whyAway!()).toBeUndefined();
    await expect(hear(recognizer, `${status}`)).rejects.toMatchObject({ retryable: true });
    const message = `${new URL(server.url).host} could not be reached: it answered ${status}`;
    expect(await recognizer.whyAway!()).toEqual({ reason: 'server', message });
    await recognizer.check();
    expect(await recognizer.whyAway!()).toEqual({ reason: 'server', message });
    isBack = true;
    expect(await recognizer.whyAway!()).toBeUndefined();
    const asked = server.requests.length;
    // A server that heard the last recording is not asked.
    expect(await recognizer.whyAway!()).toBeUndefined();
    expect(server.requests).toHaveLength(asked);
  },
);

test('a gateway that knows recordings only → not away, whatever it says of the list of models', async () => {
  const server = await startSpeechServer({
    script: ({ path }) => (isUpload(path) ? fine : { status: 503, body: 'no such route' }),
  });
  const recognizer = createOpenAi({ server: { baseUrl: server.url, apiKey, model }, retries: 0 });
  closing.push(server, recognizer);
  await recognizer.check();
  expect([recognizer.notice!(), await recognizer.whyAway!()]).toEqual([undefined, undefined]);
  expect((await hear(recognizer, 'routed')).segments).toHaveLength(1);
});

test('a server that answers nothing in time → away; one that is busy with recordings, but answers the rest → it took too long', async () => {
  let isBusy = true;
  const formats: string[] = [];
  const server = await startSpeechServer({
    script: ({ path, fields }) => {
      if (!isUpload(path)) return isBusy ? without : 'never answer';
      const format = fields['response_format']![0]!;
      formats.push(format);
      return format === 'verbose_json' ? refusal(400, 'no verbose_json', 'response_format') : 'never answer';
    },
  });
  const recognizer = createOpenAi({ server: { baseUrl: server.url, apiKey, model }, timeLimitMs: () => 1_000 });
  closing.push(server, recognizer);
  await expect(hear(recognizer, 'busy')).rejects.toMatchObject({ code: 'timed_out' });
  // In the format that it knows, and then a second of silence.
  expect(formats).toEqual(['verbose_json', 'json', 'json']);
  expect(await recognizer.whyAway!()).toBeUndefined();
  isBusy = false;
  const message = expect.stringMatching(/could not be reached: .*timeout/) as string;
  await expect(hear(recognizer, 'hung')).rejects.toMatchObject({ code: 'recognizer_error', retryable: true, message });
  expect(await recognizer.whyAway!()).toEqual({ reason: 'server', message });
  await until(server.open, (open) => open === 0);
});
