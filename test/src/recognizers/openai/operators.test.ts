/** What only the operator of a speech server can put right. */
import { join } from 'node:path';
import { createOpenAi } from '../../../../src/recognizers/openai/openai.ts';
import { isOfCertificate } from '../../../../src/recognizers/openai/refusal.ts';
import { operatorFaultBehind } from '../../../../src/ops/operator-fault.ts';
import { asRecognizerInput, ffmpeg, sine } from '../../../support/uploads/audio-fixtures.ts';
import { refusal, startSpeechServer } from '../../../support/models/speech-server.ts';
import { useFolder } from '../../../support/use-folder.ts';
import type { Reply } from '../../../support/models/speech-server.ts';

const apiKey = 'sk-proj-0123456789abcdefSECRET';
const fine: Reply = { status: 200, body: { text: 'fine', words: [{ word: 'fine', start: 0.1, end: 0.4 }] } };
const folder = useFolder();
const file = await ffmpeg(...sine(2), ...asRecognizerInput, join(folder, 'decoded'));
const audio = { file, durationMs: 2000, silences: [] };

test.each<[string, Reply, string]>([
  ['a wrong key, at OpenAI', refusal(401, `Incorrect API key: ${apiKey}`, undefined, 'invalid_api_key'), '401 Incorrect API key: …'], // prettier-ignore
  ['a wrong key, at speaches', { status: 403, body: { detail: 'Invalid API key' } }, '403 Invalid API key'],
  ['a country that is not served', refusal(403, 'Country not supported'), '403 Country not supported'],
  ['a bill that was not paid', { status: 402, body: 'Payment Required' }, '402 Payment Required'],
  ['a quota that is used up', refusal(429, 'You exceeded your quota', undefined, 'insufficient_quota'), '429 You exceeded your quota'], // prettier-ignore
  ['a model that speaches has not', { status: 404, body: { detail: "Model 'x' is not installed locally" } }, "404 Model 'x' is not installed locally"], // prettier-ignore
  ['a model that nobody has', refusal(400, 'no such model', 'model', 'model_not_found'), '400 no such model'],
  ['a wrong address', { status: 404, body: '<html>Not Found</html>' }, '404 <html>Not Found</html>'],
  ['an address that has moved', { status: 307, headers: { location: 'http://127.0.0.1:9/' }, body: 'moved' }, '307 moved'], // prettier-ignore
])('%s → asked once; the operator has to put it right, until the server hears', async (_, reply, said) => {
  let isMended = false;
  const server = await startSpeechServer({ script: () => (isMended ? fine : reply) });
  const recognizer = createOpenAi({ server: { baseUrl: server.url, apiKey, model: 'x' } });
  try {
    const hear = () => recognizer.recognize(audio, { signal: new AbortController().signal });
    const message = `${new URL(server.url).host} answered ${said}`;
    const error: unknown = await hear().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'recognizer_error', message });
    expect(operatorFaultBehind(error)).toBeDefined();
    expect(server.requests).toHaveLength(1);
    expect(await recognizer.whyAway!()).toEqual({ reason: 'refused', message });
    isMended = true;
    expect(await recognizer.whyAway!()).toBeUndefined();
    expect((await hear()).segments).toHaveLength(1);
    // A server that heard the last recording is not asked.
    const asked = server.requests.length;
    expect(await recognizer.whyAway!()).toBeUndefined();
    expect(server.requests).toHaveLength(asked);
  } finally {
    await Promise.all([recognizer.close(), server.close()]);
  }
});

test.each([
  ['CERT_HAS_EXPIRED', true],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', true],
  ['ERR_TLS_CERT_ALTNAME_INVALID', true],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', true],
  ['ECONNRESET', false],
])('a connection that ends with %s → because of the certificate: %p', (code, isOfIt) => {
  const error = new TypeError('fetch failed', { cause: Object.assign(new Error('no'), { code }) });
  expect(isOfCertificate(error)).toBe(isOfIt);
});
