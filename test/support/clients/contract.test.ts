/** The checker of answers can itself fail: answers that are wrong on purpose are caught. */
import { violations } from '../../../src/api/contract/checker.ts';
import type { SeenAnswer } from '../../../src/api/contract/checker.ts';

const id = '01a1f89b-f1a2-7605-ae51-71a046f5ee3c';
const counted = { ratelimit: '"plan";r=1;t=2', 'ratelimit-policy': '"plan";q=60;w=60' };
const always = { 'x-request-id': id, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
const jsonType = { 'content-type': 'application/json' };
const session = { id, status: 'queued', title: '', createdAt: '2026-11-20T09:30:00Z' };

function sessionAnswer(body: object, headers: Record<string, string | undefined> = {}): SeenAnswer {
  return {
    ...{ method: 'GET', path: `/v1/sessions/${id}`, status: 200 },
    headers: { ...always, ...counted, ...jsonType, ...headers },
    text: JSON.stringify(body),
  };
}

const transcript: SeenAnswer = {
  ...{ method: 'GET', path: `/v1/sessions/${id}/transcript?wait=1`, status: 200 },
  headers: { ...always, ...counted, ...jsonType, etag: 'W/"1.json"', vary: 'Accept' },
  text: JSON.stringify({
    sessionId: id,
    status: 'completed',
    segments: [{ index: 0, startMs: 0, endMs: 1, text: 'a' }],
  }),
};

const problem: SeenAnswer = {
  ...{ method: 'GET', path: '/v1/sessions', status: 401 },
  headers: { ...always, 'content-type': 'application/problem+json', 'www-authenticate': 'Bearer' },
  text: JSON.stringify({ type: 'about:blank', title: 'Unauthorized', status: 401, code: 'unauthorized' }),
};

const { headers: { etag, vary } = {} } = transcript;
const notModified: SeenAnswer = {
  ...transcript,
  status: 304,
  headers: { ...always, ...counted, etag, vary },
  text: '',
};

test.each<[string, SeenAnswer]>([
  ['a session', sessionAnswer(session)],
  ['HEAD of a session', { ...sessionAnswer(session), method: 'HEAD', text: '' }],
  ['a transcript', transcript],
  [
    'captions',
    { ...transcript, headers: { ...transcript.headers, 'content-type': 'text/vtt; charset=utf-8' }, text: 'WEBVTT\n' },
  ],
  ['304', notModified],
  ['a problem', problem],
  [
    'a refusal outside the contract',
    { ...problem, path: '/nothing', status: 404, text: problem.text.replaceAll('401', '404') },
  ],
])('%s as the contract declares it → no violation', (_, answer) => expect(violations(answer)).toEqual([]));

const { title: _, ...untitled } = session;
test.each<[string, SeenAnswer, RegExp]>([
  ['an undeclared status', { ...sessionAnswer(session), status: 206 }, /status 206 is not declared/],
  ['a status of another operation', { ...problem, status: 402 }, /status 402 is not declared/],
  ['200 at an undeclared path', { ...sessionAnswer(session), path: '/v1/nothing' }, /was not refused/],
  ['200 to an undeclared method', { ...sessionAnswer(session), method: 'PUT' }, /was not refused/],
  ['200 at the path outside the version', { ...sessionAnswer(session), path: `/sessions/${id}` }, /was not refused/],
  ['a missing required header', sessionAnswer(session, { ratelimit: undefined }), /header RateLimit is missing/],
  ['a missing request id', sessionAnswer(session, { 'x-request-id': undefined }), /header X-Request-Id is missing/],
  ['an undeclared header', sessionAnswer(session, { 'x-owner': id }), /header x-owner is not declared/],
  ['a header of a wrong form', sessionAnswer(session, { ratelimit: 'r=1' }), /header RateLimit: r=1/],
  [
    'a 401 without WWW-Authenticate',
    { ...problem, headers: { ...problem.headers, 'www-authenticate': undefined } },
    /WWW-Authenticate is missing/,
  ],
  ['a missing field', sessionAnswer(untitled), /body must have required property 'title'/],
  ['an undeclared field', sessionAnswer({ ...session, account_id: id }), /additional properties.*account_id/],
  [
    'an undeclared field deep inside',
    sessionAnswer({ ...session, error: { code: 'a', message: 'b', stack: 'c' } }),
    /body\/error.*stack/,
  ],
  [
    'an undeclared field in a list',
    { ...transcript, text: transcript.text.replace('"index"', '"secret":1,"index"') },
    /body\/segments\/0.*secret/,
  ],
  ['null for absent', sessionAnswer({ ...session, language: null }), /body\/language must be string/],
  ['a number as text', sessionAnswer({ ...session, durationMs: '1' }), /body\/durationMs must be integer/],
  ['a value beyond its bounds', sessionAnswer({ ...session, progress: 101 }), /body\/progress must be <= 100/],
  [
    'a value that is not in the enum',
    sessionAnswer({ ...session, status: 'done' }),
    /body\/status must be equal to one/,
  ],
  ['an id that is no UUID', sessionAnswer({ ...session, id: '1' }), /body\/id must match format "uuid"/],
  ['a time that is none', sessionAnswer({ ...session, createdAt: 'today' }), /body\/createdAt must match format/],
  ['text that is no JSON', { ...sessionAnswer(session), text: '{' }, /body must be object/],
  ['an empty body', { ...sessionAnswer(session), text: '' }, /body must be object/],
  [
    'a wrong content type',
    sessionAnswer(session, { 'content-type': 'text/html' }),
    /content type "text\/html" is not declared/,
  ],
  ['no content type', sessionAnswer(session, { 'content-type': undefined }), /content type "" is not declared/],
  [
    'a problem as plain JSON',
    { ...problem, headers: { ...problem.headers, ...jsonType } },
    /content type "application\/json"/,
  ],
  [
    'a problem without a code',
    { ...problem, text: problem.text.replace('"code"', '"kode"') },
    /required property 'code'/,
  ],
  ['a body on 304', { ...notModified, text: '{}' }, /a body where none is declared/],
  [
    '304 without ETag',
    { ...notModified, headers: { ...notModified.headers, etag: undefined } },
    /header ETag is missing/,
  ],
  ['a body on HEAD', { ...sessionAnswer(session), method: 'HEAD' }, /HEAD with a body/],
  [
    'HTML outside the contract',
    { ...problem, path: '/nothing', status: 404, headers: { 'content-type': 'text/html' }, text: '<h1>' },
    /instead of application\/problem\+json/,
  ],
  ['500 outside the contract', { ...problem, path: '/nothing', status: 500 }, /was not refused/],
])('%s → caught', (_, answer, fault) => expect(violations(answer).join('\n')).toMatch(fault));
