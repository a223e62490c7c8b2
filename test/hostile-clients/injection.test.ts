/** Text of clients stays text: no line of the log, no header and no problem can be forged with it. */
import { parseAnswers, sendRaw } from '../support/clients/raw-http.ts';
import { useAccount, useService } from '../support/service/use-service.ts';
import { filePart, form, formType, textPart, tone } from '../support/uploads/uploads.ts';
import type { RawAnswer } from '../support/clients/raw-http.ts';

const service = await useService({ env: { TRUST_PROXY: '1', CORS_ORIGINS: 'https://app.example' } });
const account = await useAccount(service, { limits: { requests_per_minute: 100_000 } });
let from = 0;
beforeEach(() => {
  from = service.logLines.length;
});

const fields = [
  ...['level', 'time', 'pid', 'requestId', 'method', 'operation', 'status', 'code', 'accountId', 'ms', 'msg'],
  ...['keyId', 'sessionId', 'address', 'jobId', 'trace_id', 'span_id'],
];

/** Every line is one JSON object of ours, and nothing of what was sent is in any. */
function expectCleanLog(): void {
  for (const line of service.logLines.slice(from)) {
    expect(line.indexOf('\n')).toBe(line.length - 1);
    const entry = JSON.parse(line) as Record<string, unknown>;
    expect(Object.keys(entry).filter((name) => !fields.includes(name))).toEqual([]);
    expect(line.match(/"level":/g)).toHaveLength(1);
    expect(entry.level).toBeLessThan(40);
    expect(line).not.toMatch(/forged/i);
  }
}

const control = /[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;

function expectCleanAnswer({ headers, text }: RawAnswer): void {
  expect(JSON.stringify(headers)).not.toMatch(/forged/i);
  expect(headers).not.toHaveProperty('set-cookie');
  if (headers['content-type'] !== 'application/problem+json') return;
  const { detail, errors = [] } = JSON.parse(text) as { detail: string; errors?: { name: string; message: string }[] };
  expect([detail, ...errors.flatMap((error) => [error.name, error.message])].filter((t) => control.test(t))).toEqual(
    [],
  );
}

async function send(target: string, headers: string[], method = 'GET', body: Buffer | string = ''): Promise<RawAnswer> {
  const all = ['Host: a', 'Connection: close', `Authorization: Bearer ${account.key}`, ...headers];
  // Of two, the test's own counts.
  const named = new Map(all.map((line) => [line.split(':')[0]!.toLowerCase(), line]));
  const head = [`${method} ${target} HTTP/1.1`, ...named.values(), '', ''].join('\r\n');
  const bytes = Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body)]);
  const answers = parseAnswers(await sendRaw(service.api.port, bytes));
  expect(answers).toHaveLength(1);
  expect(answers[0]!.status).toBeLessThan(500);
  expectCleanAnswer(answers[0]!);
  return answers[0]!;
}

const values = [
  'forged","level":60,"msg":"forged',
  '{"level":60,"msg":"forged"}',
  'forged\\n{"level":60}',
  '%0d%0aSet-Cookie:%20forged=1',
  '\u001b[2Jforged',
  'forged\u0085\u009b31m',
  'forged\tforged',
  `forged${'%s%d%j%o'.repeat(20)}`,
  '${jndi:ldap://forged}',
  '__proto__.forged',
];
const headers = [
  ...['Authorization', 'User-Agent', 'X-Forwarded-For', 'X-Forwarded-Proto', 'X-Forwarded-Host', 'Forwarded', 'Host'],
  ...['Accept', 'Accept-Encoding', 'If-None-Match', 'X-Request-Id', 'Idempotency-Key', 'Origin', 'Cookie', 'Referer'],
  ...['Access-Control-Request-Headers', 'Access-Control-Request-Method', 'Content-Type', 'Traceparent', 'Expect'],
];
const id = '01a1f89b-f1a2-7605-ae51-71a046f5ee3c';

test.each(headers)('the header %s → nothing of it in the log or in an answer', async (name) => {
  for (const value of values) {
    await send('/v1/sessions', [`${name}: ${value}`]);
    await send(`/v1/sessions/${id}/transcript`, [`${name}: ${value}`]);
    await send('/v1/sessions', ['Origin: https://app.example', `${name}: ${value}`], 'OPTIONS');
    await send('/docs/', [`${name}: ${value}`]);
    await send('/v1/transcriptions', ['Content-Length: 0', `${name}: ${value}`], 'POST');
  }
  expectCleanLog();
});

test.each([
  ['a query value', (text: string) => `/v1/sessions?limit=${text}`],
  ['a query value of the contract', (text: string) => `/v1/sessions?status=${text}`],
  ['the name of a query parameter', (text: string) => `/v1/sessions?${text}=1`],
  ['a cursor', (text: string) => `/v1/sessions?cursor=${text}`],
  ['a time', (text: string) => `/v1/sessions?createdAfter=${text}`],
  ['a session id', (text: string) => `/v1/sessions/${text}`],
  ['a session id with its transcript', (text: string) => `/v1/sessions/${text}/transcript`],
  ['a path', (text: string) => `/v1/${text}`],
  ['a path of the docs', (text: string) => `/docs/${text}`],
])('%s → the same', async (_, target) => {
  const inPaths = [...values, '\r\nforged: 1\r\n', '\u2028forged\u202egro', '\u0000forged'];
  for (const value of inPaths) {
    const { status } = await send(target(encodeURIComponent(value)), []);
    expect([200, 400, 404]).toContain(status);
  }
  expectCleanLog();
});

test('names and values of a form, and the name of a file → the same, and no header of a session is forged', async () => {
  const audio = await tone(100);
  const texts = [...values.map((value) => value.replaceAll('"', '%22')), '\u2028forged\u202egro', '\u0000forged'];
  for (const text of texts) {
    for (const body of [
      form(textPart(text, '1'), filePart(audio)),
      form(textPart('durationMs', text), filePart(audio)),
      form(filePart(audio, text, text.slice(0, 50))),
      form(filePart(audio, `${text}.wav`)),
    ]) {
      await send('/v1/transcriptions', [`Content-Type: ${formType}`, `Content-Length: ${body.length}`], 'POST', body);
    }
  }
  expectCleanLog();
  const { text } = await send('/v1/sessions?limit=100', []);
  const { items } = JSON.parse(text) as { items: { title: string }[] };
  // Where a name has a control character, the header of its part is malformed.
  expect(items).toHaveLength(texts.filter((name) => !/[\0\u001b]/.test(name)).length);
  expect(items.filter(({ title }) => control.test(title.replaceAll('\u2028', '')))).toEqual([]);
});
