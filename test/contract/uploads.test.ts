import fc from 'fast-check';
import { makeAccount } from '../support/service/accounts.ts';
import { useService } from '../support/service/use-service.ts';
import { tone } from '../support/uploads/uploads.ts';
import { validValues } from './arbitraries.ts';
import { bodySchema, cases, operations, seed, send } from './requests.ts';
import type { TestAccount } from '../support/service/accounts.ts';

/** Each upload that gets as far as its audio runs ffmpeg: fewer of them than of requests that only read. */
const numRuns = Math.ceil(cases / 10);
const { method, path } = operations.find(({ operationId }) => operationId === 'createTranscription')!;
const { durationMs } = bodySchema('createTranscription');
const audio = new Blob([await tone(100)]);

let account: TestAccount;

const service = await useService({ env: { LOG_LEVEL: 'silent' } });
beforeAll(async () => {
  const limits = { requests_per_minute: 100_000_000, queued_sessions: 1_000_000 };
  account = await makeAccount(service.db, { balanceMs: 2 ** 50, limits });
});

/**
 * Control characters can't stand in a header (RFC 9110, section 5.5). A backslash at the end escapes the closing quote to
 * the form parser, while browsers write it unescaped.
 */
const fileName = fc
  .oneof(fc.string({ minLength: 1 }), fc.string({ unit: 'binary', minLength: 1 }), fc.webPath())
  .filter((name) => name !== '' && !/\p{Cc}|\\$/u.test(name));
const idempotencyKey = fc.uuid();

test(`${numRuns} valid uploads → accepted (seed ${seed})`, async () => {
  const property = fc.asyncProperty(
    fc.option(validValues(durationMs!), { nil: undefined }),
    fc.option(idempotencyKey, { nil: undefined }),
    fileName,
    async (duration, key, name) => {
      const form = new FormData();
      form.append('file', audio, name);
      if (duration !== undefined) form.append('durationMs', duration[0]!);
      const headers: Record<string, string> = key === undefined ? {} : { 'Idempotency-Key': key };
      const { status, body } = await send(service.url, { method, path, query: [], headers }, account.key, form);
      expect({ status, name, code: body.code }).toMatchObject({ status: 202 });
      const session = `/sessions/${String(body.sessionId)}`;
      const read = await send(service.url, { method: 'GET', path: session, query: [], headers: {} }, account.key);
      expect(read.body).toMatchObject({ status: 'queued', durationMs: 100 });
    },
  );
  await fc.assert(property, { numRuns, seed });
});

test(`${numRuns} uploads of arbitrary bytes → refused as what they are (seed ${seed})`, async () => {
  const property = fc.asyncProperty(fc.uint8Array({ maxLength: 5000 }), async (bytes) => {
    const data = new FormData();
    data.append('file', new Blob([bytes as Uint8Array<ArrayBuffer>]), 'noise.mp3');
    const { status, body } = await send(service.url, { method, path, query: [], headers: {} }, account.key, data);
    // ffmpeg takes these two bytes for a picture (JPEG).
    const isPicture = bytes[0] === 0xff && bytes[1] === 0xd8;
    const refusal = isPicture ? [422, 'no_audio_track', undefined] : [415, 'unsupported_media', 'file'];
    const expected = bytes.length === 0 ? [400, 'empty_file', 'file'] : refusal;
    expect([status, body.code, body.errors?.[0]?.name]).toEqual(expected);
  });
  await fc.assert(property, { numRuns, seed, examples: [[Uint8Array.of(0xff, 0xd8)]] });
});
