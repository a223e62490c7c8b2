/** What a server is told of a recording, and servers that do not know its language. */
import { LanguageNotKnown } from '../../../../src/recognizers/recognizer.ts';
import { refusal } from '../../../support/models/speech-server.ts';
import { useAsking } from './asking.ts';
import type { Hints } from '../../../../src/recognizers/recognizer.ts';
import type { Received, Reply } from '../../../support/models/speech-server.ts';

const { ask } = useAsking();

const words = [{ word: 'fine', start: 0.1, end: 0.4 }];
const fine = (language?: string, headers = {}): Reply => ({
  ...{ status: 200, headers, body: { text: 'fine', words, ...(language !== undefined && { language }) } },
});

/** Recognizes once, and answers what the server was told. */
async function told(hints: Hints, script: (request: Received) => Reply, model = 'whisper-1', times = 1) {
  const { server, hear } = await ask(script, { model });
  const recognize = () => hear(2, hints);
  for (let time = 1; time < times; time += 1) await recognize();
  const outcome = await recognize().catch((error: unknown) => error);
  const fields = server.requests.map(({ fields: sent }) =>
    Object.fromEntries(Object.entries(sent).filter(([name]) => /^(language|prompt|keywords)/.test(name))),
  );
  return { outcome, fields };
}

test.each<[string, Hints, string, object]>([
  ['a language that Whisper calls otherwise', { language: 'fil' }, 'whisper-1', { language: ['tl'] }],
  ['one that Whisper does not know', { language: 'gsw' }, 'whisper-1', { language: ['gsw'] }],
  ['keyterms', { keyterms: ['Okapi', 'Zebra'] }, 'whisper-1', { prompt: ['Okapi, Zebra'] }],
  ['keyterms, to a model without prompts', { keyterms: ['Okapi'] }, 'gpt-4o-transcribe-diarize', {}],
  [
    'both, to a model with newer fields',
    { language: 'de', keyterms: ['Okapi', 'Zebra'] },
    'gpt-transcribe',
    { 'languages[]': ['de'], 'keywords[]': ['Okapi', 'Zebra'] },
  ],
])('%s → told as servers know it', async (_, hints, model, expected) => {
  expect((await told(hints, () => fine(), model)).fields).toEqual([expected]);
});

test('more keyterms than there is room for → the first ones, whole', async () => {
  const keyterms = Array.from({ length: 100 }, (_, index) => `${index} `.padEnd(60, 'x'));
  const { fields } = await told({ keyterms }, () => fine());
  expect(fields).toEqual([{ prompt: [keyterms.slice(0, 12).join(', ')] }]);
});

test('a server that refuses prompts → heard without; hints fail nothing', async () => {
  const script = ({ fields }: Received) => (fields['prompt'] ? refusal(400, 'not supported', 'prompt') : fine());
  const { outcome, fields } = await told({ language: 'de', keyterms: ['Okapi'] }, script);
  expect(outcome).toMatchObject({ language: 'de', segments: [{ text: 'fine' }] });
  expect(fields).toEqual([{ language: ['de'], prompt: ['Okapi'] }, { language: ['de'] }]);
});

test.each<[string, string | undefined, string | undefined, string | undefined]>([
  ['nothing', undefined, 'de-AT', 'de-AT'],
  ['the larger language', 'norwegian', 'nb', 'no'],
  ['a language of the larger one', 'cantonese', 'zh-Hant', 'yue'],
])('an answer that says %s → the language of the transcript', async (_, answered, language, expected) => {
  const { outcome } = await told({ language }, () => fine(answered));
  expect((outcome as { language?: string }).language).toBe(expected);
});

test.each<[string, Reply, Hints]>([
  ['that refuses the language', refusal(400, "Invalid language 'gsw'", 'language'), { language: 'gsw' }],
  ['whose model hears English only', fine('english'), { language: 'de' }],
])('a server %s → LanguageNotKnown, asked once', async (_, reply, hints) => {
  const { outcome, fields } = await told(hints, () => reply);
  expect(outcome).toBeInstanceOf(LanguageNotKnown);
  expect(outcome).toMatchObject({ code: 'language_not_supported', retryable: false, known: undefined });
  expect(fields).toHaveLength(1);
});

test('a language that the operator expects, and an answer in another one → its transcript', async () => {
  const { outcome } = await told({ language: 'de', isLanguageExpected: true }, () => fine('english'));
  expect(outcome).toMatchObject({ language: 'en', segments: [{ text: 'fine' }] });
});

test('a model that takes the language for a hint and finds another one → its transcript', async () => {
  const script = ({ fields }: Received): Reply =>
    fields['response_format']?.[0] === 'verbose_json'
      ? refusal(400, 'not compatible with this model', 'response_format')
      : { status: 200, body: { text: 'fine', languages: [{ code: 'en' }] } };
  const { outcome } = await told({ language: 'de' }, script, 'openai/gpt-transcribe');
  expect(outcome).toMatchObject({ language: 'en', segments: [{ text: 'fine' }] });
});

describe("whisper.cpp's own server", () => {
  const own = (language?: string) => fine(language, { Server: 'whisper.cpp' });

  test('without a language → asked to find it out; its first answer, as English, does not count', async () => {
    const script = ({ fields }: Received) => own(fields['language']?.[0] === 'auto' ? 'german' : 'english');
    const { outcome, fields } = await told({}, script, 'whisper-1', 2);
    expect(outcome).toMatchObject({ language: 'de' });
    expect(fields).toEqual([{}, { language: ['auto'] }, { language: ['auto'] }]);
  });

  test('with one that Whisper does not know → LanguageNotKnown: it would write nonsense', async () => {
    const { outcome } = await told({ language: 'gsw' }, () => own());
    expect(outcome).toMatchObject({ code: 'language_not_supported', known: expect.arrayContaining(['de', 'fil']) });
  });
});
