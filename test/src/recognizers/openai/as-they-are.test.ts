/** Servers that differ from OpenAI's, each as it answers. */
import { join } from 'node:path';
import { createOpenAi } from '../../../../src/recognizers/openai/openai.ts';
import { asRecognizerInput, ffmpeg, sine } from '../../../support/uploads/audio-fixtures.ts';
import { refusal, startSpeechServer } from '../../../support/models/speech-server.ts';
import { expectWellFormed } from '../conformance/conformance.ts';
import { useFolder } from '../../../support/use-folder.ts';
import type { Received, Reply } from '../../../support/models/speech-server.ts';

const folder = useFolder();
const durationMs = 9_000;
const file = await ffmpeg(...sine(9), ...asRecognizerInput, join(folder, 'decoded'));
const closing: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((each) => each.close()));
});

async function ask(script: (request: Received) => Reply, { model = 'whisper-1', path = '/v1' } = {}) {
  const asked: Received[] = [];
  const server = await startSpeechServer({ script: (request) => (asked.push(request), script(request)) });
  const baseUrl = server.url.replace('/v1', path);
  const recognizer = createOpenAi({ server: { baseUrl, apiKey: 'sk-test', model }, retries: 0 });
  closing.push(recognizer, server);
  const { signal } = new AbortController();
  const hearing = recognizer.recognize({ file, durationMs, silences: [] }, { signal });
  return { asked, hearing };
}

const formatOf = ({ fields }: Received) => fields['response_format']?.[0];
const ofType = (type: string, body: string): Reply => ({ status: 200, headers: { 'content-type': type }, body });
const word = (text: string, start: unknown, end: unknown) => ({ word: text, start, end });
const inJson = (fields: object): Reply => ({ status: 200, body: fields });
const turn = (speaker: string, start: number, text: string) => ({ speaker, text, start, end: start + 1 });

test.each<[string, string, (request: Received) => Reply, object[], (string | undefined)[]]>([
  [
    'writes the names of speakers into its text',
    'x-diarize',
    () => inJson({ text: 'A: Yes.\nB: No.', segments: [turn('A', 1, 'Yes.'), turn('B', 3, 'No.')] }),
    [
      { text: 'Yes.', startMs: 1000, speaker: 'S1' },
      { text: 'No.', startMs: 3000, speaker: 'S2' },
    ],
    ['diarized_json'],
  ],
  [
    'tells an impossible time of one word',
    'whisper-1',
    () => inJson({ text: 'one two three', words: [word('one', 1, 2), word('two', 1e9, -1), word('three', 3, 4)] }),
    [
      {
        words: [
          { text: 'one', startMs: 1000, endMs: 2000 },
          { text: 'two', startMs: 2000, endMs: 2450 },
          { text: 'three', startMs: 3000, endMs: 4000 },
        ],
      },
    ],
    ['verbose_json'],
  ],
  [
    'writes NaN, as Python does',
    'whisper-1',
    () =>
      ofType(
        'application/json',
        `{"text": "NaN, he said", "words": [{"word": "NaN", "start": 1, "end": 2}, {"word": "he", "start": NaN, "end": Infinity},
          {"word": "said", "start": 3, "end": 4, "probability": -Infinity}]}`,
      ),
    [{ text: 'NaN, he said', startMs: 1000, endMs: 4000 }],
    ['verbose_json'],
  ],
  [
    'calls its JSON plain text',
    'whisper-1',
    () => ofType('text/plain; charset=utf-8', '{"text": "Yes.", "words": [{"word": "Yes", "start": 1, "end": 2}]}'),
    [{ text: 'Yes.', startMs: 1000 }],
    ['verbose_json'],
  ],
  [
    'refuses response_format altogether',
    'whisper-1',
    (request) =>
      formatOf(request) === undefined
        ? inJson({ text: 'Yes.' })
        : { status: 422, body: { detail: [{ type: 'extra_forbidden', loc: ['body', 'response_format'] }] } },
    [{ text: 'Yes.' }],
    ['verbose_json', 'json', undefined],
  ],
])('a server that %s → understood', async (_, model, script, segments, formats) => {
  const { asked, hearing } = await ask(script, { model });
  const transcript = await hearing;
  expectWellFormed(transcript, durationMs);
  expect(transcript.segments).toMatchObject(segments);
  expect(asked.map(formatOf)).toEqual(formats);
});

test.each<[string, Reply, string]>([
  ['in plain text', ofType('text/plain', 'so secret'), 'plain text instead of JSON'],
  ['as a stream of events', ofType('text/event-stream', 'data: {"text": "so secret"}\n\n'), 'a stream of events'],
])('a server that answers %s → asked once, not again; says so, without quoting it', async (_, reply, message) => {
  const { asked, hearing } = await ask(() => reply);
  const error: unknown = await hearing.catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'recognizer_error', retryable: false });
  expect(String(error)).toContain(message);
  expect(String(error)).not.toContain('secret');
  expect(asked).toHaveLength(1);
});

test('a server that refuses each format, and no format → its refusal, not retryable', async () => {
  const { asked, hearing } = await ask(() => refusal(400, 'response_format is not for you', 'response_format'));
  await expect(hearing).rejects.toMatchObject({ code: 'recognizer_error', retryable: false });
  expect(asked.map(formatOf)).toEqual(['verbose_json', 'json', undefined]);
});

test('an address of Azure → its version stays at the end, and the key is in the header of Azure', async () => {
  const deployment = '/openai/deployments/whisper';
  const { asked, hearing } = await ask(() => inJson({ text: 'Yes.' }), {
    path: `${deployment}?api-version=2024-10-21`,
  });
  expect((await hearing).segments).toMatchObject([{ text: 'Yes.' }]);
  expect(asked.map(({ path }) => path)).toEqual([`${deployment}/audio/transcriptions?api-version=2024-10-21`]);
  expect(asked[0]!.headers).toMatchObject({ 'api-key': 'sk-test' });
  expect(asked[0]!.headers.authorization).toBeUndefined();
});
