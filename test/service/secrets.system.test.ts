/**
 * The main job, from an account and a key to a transcript, with everything that can go wrong beside it, at LOG_LEVEL=trace
 * and with no umask. Then the key, its digest, what was said and the file's name are looked for wherever they could be.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { lstat, mkdtemp, readFile, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { sql } from 'kysely';
import { openDatabase } from '../../db/connection/database.ts';
import { joinEmbeddedPostgres } from '../../db/embedded/embedded-postgres.ts';
import { newApiKey } from '../../src/api/access/api-key.ts';
import { runAdminProcess } from '../scripts/admin/run-admin.ts';
import { ffmpeg, speechClips } from '../support/uploads/audio-fixtures.ts';
import { steadyPort } from '../rig/ports.ts';
import { descendantsOf } from '../rig/processes.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { startProcess } from '../support/service/processes.ts';
import { dumpTables } from '../support/service/dump-tables.ts';
import { until } from '../support/until.ts';
import type { Schema } from '../../codegen/operations.ts';

const title = 'Zanzibar merger of Quagmire and Sons';
/** What clients send into every field; it may come back to them, and goes nowhere else. */
const junk = 'xylophonejunk7421';

/** By kind, every form in which it would be recognized. */
type Secrets = Record<string, string[]>;

/** Of a key support sees the first ten characters and the last four; the rest is secret. */
const keyForms = (key: string): string[] => [key.slice(10, -4)];

function digestForms(key: string): string[] {
  const digest = createHash('sha256').update(key).digest();
  const base64 = digest.toString('base64');
  const bytes = JSON.stringify([...digest]).slice(1, -1);
  return [
    digest.toString('hex'),
    base64.replace(/=+$/, ''),
    digest.toString('base64url'),
    digest.toString('latin1'),
    bytes,
  ];
}

/** Three words in a row, and long words: what was said is recognized by them, and nothing else says them. */
function textForms(text: string): string[] {
  const words = text.split(' ');
  const triples = words.slice(2).map((_, i) => words.slice(i, i + 3).join(' '));
  return [...triples, ...words.filter((word) => word.length >= 9)];
}

/** The kinds of secret that a text holds. */
const leaksIn = (text: string, secrets: Secrets): string[] =>
  Object.entries(secrets)
    .filter(([, forms]) => forms.some((form) => text.includes(form)))
    .map(([kind]) => kind);

interface ProcessTraces {
  /** What it runs, as its command line says. */
  program: string;
  environment: string;
  commandLine: string;
}

/** What the living descendants of a process show of themselves, but for those that became another program meanwhile. */
function tracesBelow(pid: number): ProcessTraces[] {
  return descendantsOf(pid).flatMap((found) => {
    const commandLine = readProc(`${found.pid}/cmdline`);
    const environment = readProc(`${found.pid}/environ`);
    const isSame = readProc(`${found.pid}/cmdline`) === commandLine;
    return isSame ? [{ program: basename(commandLine.split('\0')[0]!), environment, commandLine }] : [];
  });
}

/** Nothing of a process that has ended meanwhile. */
function readProc(path: string): string {
  try {
    return readFileSync(join('/proc', path), 'utf8');
  } catch {
    return '';
  }
}

/** Files that another user may do anything with, and folders that another user may look into, below a folder. */
async function openToOthers(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    const stats = await lstat(path).catch(() => undefined);
    if (stats === undefined || stats.isSymbolicLink()) continue;
    // To pass through a folder is no look into it.
    const forbidden = stats.isDirectory() ? 0o066 : 0o077;
    if ((stats.mode & forbidden) !== 0) found.push(`${path} ${(stats.mode & 0o777).toString(8)}`);
    if (stats.isDirectory()) found.push(...(await openToOthers(path)));
  }
  return found;
}

interface Seen {
  secrets: Secrets;
  answers: { what: string; status: number; headers: Headers; body: string }[];
  lines: string[];
  metrics: string;
  tables: Map<string, string>;
  children: ProcessTraces[];
  serverLog: string;
  open: string[];
  admin: string;
}
let seen: Seen;
beforeAll(async () => void (seen = await liveThrough()), 240_000);

async function liveThrough(): Promise<Seen> {
  const dataDir = await mkdtemp(join(process.env.TEST_FOLDER!, 'secrets-'));
  const opsPort = await steadyPort();
  const env = { DATA_DIR: dataDir, LOG_LEVEL: 'trace', OPS_PORT: String(opsPort) };
  const service = await startProcess('start', env, 'api answers', ['sh', '-c', 'umask 0; exec "$0" "$@"']);
  const postgres = await joinEmbeddedPostgres({ folder: join(dataDir, 'postgres') });
  const { db, close } = openDatabase(postgres.url, () => {}, { maxConnections: 2 });
  const children: ProcessTraces[] = [];
  const open = new Set<string>();
  const watching = setInterval(() => {
    children.push(...tracesBelow(service.pid));
    void openToOthers(dataDir).then((found) => found.forEach((path) => open.add(path)));
  }, 50);
  const answers: Seen['answers'] = [];
  let admin = '';
  const support = async (...args: string[]) => {
    const end = await runAdminProcess([...args, '--json'], { DATA_DIR: dataDir });
    expect({ args, code: end.code, stderr: end.stderr }).toEqual({ args, code: 0, stderr: '' });
    admin += end.stdout;
  };
  const client =
    (key: string) =>
    async (what: string, path: string, init: RequestInit = {}) => {
      const headers = { Authorization: `Bearer ${key}`, ...(init.headers as Record<string, string>) };
      const response = await fetch(`${service.url}${path}`, { ...init, headers });
      const answer = { what, status: response.status, headers: response.headers, body: await response.text() };
      answers.push(answer);
      return answer;
    };
  try {
    const { id: accountId, key } = await makeAccount(db, { plan: 'team' });
    await support('keys', 'list', accountId);
    const unknownKey = newApiKey();
    const ask = client(key);
    const [longest] = (await speechClips()).sort((a, b) => b.durationMs - a.durationMs);
    const clip = await readFile(longest!.file);
    const form = (name = `${title}.wav`, field = 'file', content: Uint8Array<ArrayBuffer> = clip) => {
      const body = new FormData();
      body.append(field, new Blob([content]), name);
      return { method: 'POST', body };
    };

    const accepted = await ask('accepted', '/v1/transcriptions', { ...form(), headers: { 'Idempotency-Key': junk } });
    const { sessionId } = JSON.parse(accepted.body) as { sessionId: string };
    await client(unknownKey)('unknown key', '/v1/sessions');
    await client(`${key.slice(0, -1)}~`)('damaged key', '/v1/sessions');
    await ask('unknown field', '/v1/transcriptions', form('a.wav', junk));
    await ask('no audio', '/v1/transcriptions', form(`${title}.mp3`, 'file', new Uint8Array(5_000)));
    await ask('bad cursor', `/v1/sessions?cursor=${junk}`);
    await ask('unknown parameter', `/v1/sessions?${junk}=${junk}`);
    await ask('bad id', `/v1/sessions/${junk}`);
    await ask('unknown id', `/v1/sessions/${accountId}`);
    await ask('no route', `/v1/${junk}`);
    await ask('no method', '/v1/sessions', { method: 'DELETE' });
    await ask('not acceptable', `/v1/sessions/${sessionId}/transcript`, { headers: { Accept: `image/${junk}` } });
    await ask('too early', `/v1/sessions/${sessionId}/transcript`, { headers: { Accept: 'text/vtt' } });

    // A row that the database refuses: its answer quotes the whole row, title and all.
    await sql`alter table sessions add constraint no_merger check (title !~ 'merger') not valid`.execute(db);
    expect((await ask('fault', '/v1/transcriptions', form())).status).toBe(500);
    await sql`alter table sessions drop constraint no_merger`.execute(db);

    // Long enough to be at work until support has typed.
    const long = join(process.env.TEST_FOLDER!, 'secrets-long.wav');
    await ffmpeg('-stream_loop', '19', '-i', longest!.file, '-c', 'copy', long);
    const toCancel = await ask('to cancel', '/v1/transcriptions', form('long.wav', 'file', await readFile(long)));
    const canceled = JSON.parse(toCancel.body) as { sessionId: string };
    await support('sessions', 'cancel', canceled.sessionId);
    const read = async () =>
      JSON.parse(
        (await ask('transcript', `/v1/sessions/${sessionId}/transcript?wait=10&include=words`)).body,
      ) as Schema<'Transcript'>;
    const { segments } = await until(read, ({ status }) => status === 'completed');
    await ask('session', `/v1/sessions/${sessionId}`);
    await ask('sessions', '/v1/sessions?limit=5');
    await ask('captions', `/v1/sessions/${sessionId}/transcript`, { headers: { Accept: 'text/vtt' } });
    await ask('contract', '/openapi.json');
    await support('sessions', 'list', accountId);
    await support('balance', 'show', accountId);
    await support('verify');

    const metrics = await (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text();
    const tables = await dumpTables(db);
    const secrets = {
      ...{ key: keyForms(key), digest: digestForms(key), title: [title, 'Zanzibar', 'Quagmire'], junk: [junk] },
      ...{ unknownKey: [...keyForms(unknownKey), ...digestForms(unknownKey)] },
      text: textForms(segments.map(({ text }) => text).join(' ')),
    };
    return {
      secrets,
      answers,
      lines: service.lines,
      metrics,
      tables,
      children,
      admin,
      open: [...open],
      serverLog: await readFile(join(dataDir, 'postgres/server.log'), 'utf8'),
    };
  } finally {
    clearInterval(watching);
    await close();
    await postgres.leave();
    expect(await service.stop()).toBe(0);
  }
}

/** What a place holds that it must not. */
const found = (text: string, ...allowed: string[]) =>
  leaksIn(text, seen.secrets).filter((kind) => !allowed.includes(kind));

test('everything that can be looked for was there once', () => {
  const { secrets, answers, tables, children, lines } = seen;
  expect(Object.values(secrets).map((forms) => forms.length > 0)).toEqual(Object.keys(secrets).map(() => true));
  expect(secrets.text!.length).toBeGreaterThan(4);
  expect(leaksIn(tables.get('public.api_keys')!, secrets)).toEqual(['digest']);
  expect(leaksIn(tables.get('public.sessions')!, secrets)).toEqual(['title']);
  expect(leaksIn(tables.get('public.transcripts')!, secrets)).toEqual(['text']);
  expect([...tables.keys()].filter((name) => name.startsWith('pgboss.')).length).toBeGreaterThan(3);
  expect(children.map(({ program }) => program)).toContain('ffmpeg');
  expect(children.map(({ commandLine }) => commandLine)).toContainEqual(
    expect.stringContaining('sherpa-onnx/child-main'),
  );
  const statuses = answers.map(({ status }) => status);
  expect(statuses).toEqual(expect.arrayContaining([200, 202, 400, 401, 404, 405, 406, 409, 500]));
  expect(lines.filter((line) => line.startsWith('{"level":50')).length).toBeGreaterThan(0);
});

test('no line of the log holds a key, a digest, a title, a word of a transcript, or what a client sent', () => {
  expect(seen.lines.filter((line) => found(line).length > 0)).toEqual([]);
});

test('no problem holds a key, a digest, a title, a word of a transcript, or what is inside', () => {
  const problems = seen.answers.filter(({ status }) => status >= 400);
  // A client's own field names may come back to it.
  expect(problems.map(({ what, body }) => ({ what, leaks: found(body, 'junk') }))).toEqual(
    problems.map(({ what }) => ({ what, leaks: [] })),
  );
  const { body } = problems.find(({ what }) => what === 'fault')!;
  expect(body).toContain('"internal_error"');
  expect(body).not.toMatch(/constraint|no_merger|sessions"|\.ts|relation/);
});

test('no answer at all holds a key or a digest', () => {
  const places = seen.answers.map(({ what, body, headers }) => ({ what, text: `${body}\n${[...headers].join('\n')}` }));
  expect(places.filter(({ text }) => found(text, 'text', 'title', 'junk').length > 0)).toEqual([]);
});

test('the metrics and the admin command hold none of them', () => {
  expect(found(seen.metrics)).toEqual([]);
  expect(seen.metrics).toMatch(/^transcription_requests_total/m);
  // Support sees titles, never what was said.
  expect(found(seen.admin, 'title')).toEqual([]);
});

test('no table holds a key; digests, transcripts, titles and Idempotency-Keys are in their own only', () => {
  const own: Record<string, string[]> = {
    'public.api_keys': ['digest'],
    'public.transcripts': ['text'],
    'public.sessions': ['title'],
    'public.idempotency': ['junk'],
  };
  const leaks = [...seen.tables].map(([name, text]) => [name, found(text, ...(own[name] ?? []))]);
  expect(leaks).toEqual(leaks.map(([name]) => [name, []]));
});

test('children have no environment, and nothing of it on their command lines', () => {
  // Those that have arrived: the shell before them exports PWD, and `env -i` takes it away.
  const { ffmpeg: decoders, node } = Object.groupBy(seen.children, ({ program }) => program);
  const models = node!.filter(({ commandLine }) => commandLine.includes('sherpa-onnx/child-main'));
  expect([decoders!.length > 0, models.length > 0]).toEqual([true, true]);
  expect([...decoders!, ...models].filter(({ environment }) => environment !== '')).toEqual([]);
  expect(seen.children.filter((child) => found(JSON.stringify(child)).length > 0)).toEqual([]);
});

test("PostgreSQL's own log holds none of them, not even of a row that it refused", () => {
  expect(seen.serverLog).toContain('ready to accept connections');
  expect(found(seen.serverLog)).toEqual([]);
  expect(seen.serverLog).not.toContain('no_merger');
});

test('no file below DATA_DIR is open to another user, whatever the umask', () => {
  expect(seen.open).toEqual([]);
});

test('every kind of answer → nosniff, no X-Powered-By, no Server, and the decided Cache-Control', () => {
  const cacheControl: Record<string, string> = {
    ...{ transcript: 'private, no-cache', captions: 'private, no-cache', contract: 'public, max-age=300' },
  };
  const told = seen.answers.map(({ what, headers }) => [what, ...watched.map((name) => headers.get(name))]);
  expect(told).toEqual(told.map(([what]) => [what, 'nosniff', null, null, cacheControl[what!] ?? 'no-store']));
});
const watched = ['x-content-type-options', 'x-powered-by', 'server', 'cache-control'];
