/**
 * The most that Node.js and PostgreSQL can do: bare node:http and pg, prepared statements, times as text. There is no
 * authentication (a header names the account), no validation, no log and no metrics. The answers are those of the
 * service, without its headers.
 */
import { createServer } from 'node:http';
import pg from 'pg';
import type { ServerResponse } from 'node:http';

const asIs = (text: string) => text;
const types = { getTypeParser: (oid: number) => (oid === 1184 || oid === 114 ? asIs : pg.types.getTypeParser(oid)) };
const { DATABASE_URL: connectionString, PORT, HOST } = process.env;
const pool = new pg.Pool({ connectionString, max: 20, options: '-c timezone=UTC', types } as pg.PoolConfig);

interface SessionRow {
  id: string;
  status: string;
  title: string;
  created_at: string;
  started_at: string | null;
  completed_at: string | null;
  duration_ms: number | null;
  language: string | null;
}

const columns = 'id, status, title, created_at, started_at, completed_at, duration_ms, language';
const statements = {
  list: `select ${columns} from sessions where account_id = $1 order by created_at desc, id desc limit 21`,
  session: `select ${columns} from sessions where account_id = $1 and id = $2`,
  version: 'select transcript_version from sessions where account_id = $1 and id = $2',
  transcript: `select status, duration_ms, language, segments from sessions as s
    join transcripts as t on t.account_id = s.account_id and t.session_id = s.id where s.account_id = $1 and s.id = $2`,
};

async function read<Row extends pg.QueryResultRow>(name: keyof typeof statements, values: string[]): Promise<Row[]> {
  return (await pool.query<Row>({ name, text: statements[name], values })).rows;
}

const timeOf = (text: string | null) => (text === null ? undefined : `${text.slice(0, 10)}T${text.slice(11, -3)}Z`);

const toSession = (row: SessionRow) => ({
  id: row.id,
  status: row.status,
  title: row.title,
  createdAt: timeOf(row.created_at),
  startedAt: timeOf(row.started_at),
  completedAt: timeOf(row.completed_at),
  durationMs: row.duration_ms ?? undefined,
  language: row.language ?? undefined,
});

async function list(accountId: string): Promise<string> {
  const rows = await read<SessionRow>('list', [accountId]);
  const items = rows.slice(0, 20).map(toSession);
  const last = items.at(-1)!;
  return JSON.stringify({ items, nextCursor: Buffer.from(`${last.createdAt} ${last.id}`).toString('base64url') });
}

async function session(accountId: string, id: string): Promise<string> {
  return JSON.stringify(toSession((await read<SessionRow>('session', [accountId, id]))[0]!));
}

async function transcript(accountId: string, id: string): Promise<string> {
  const [row] = await read<SessionRow & { segments: string }>('transcript', [accountId, id]);
  const { status, duration_ms: durationMs, language, segments } = row!;
  const head = JSON.stringify({ sessionId: id, status, durationMs, language });
  return `${head.slice(0, -1)},"segments":${segments}}`;
}

/** Whether the client has it already. */
async function isKnown(tag: string, accountId: string, id: string): Promise<boolean> {
  const [row] = await read<{ transcript_version: string }>('version', [accountId, id]);
  return tag === `W/"${row!.transcript_version}.json"`;
}

async function transcriptUnlessKnown(tag: string | undefined, accountId: string, id: string): Promise<string> {
  return tag !== undefined && (await isKnown(tag, accountId, id)) ? '' : transcript(accountId, id);
}

function send(res: ServerResponse, status: number, text: string): void {
  const body = Buffer.from(text);
  res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': body.length }).end(body);
}

createServer((req, res) => {
  const [, , id, part] = req.url!.split('?')[0]!.slice('/v1'.length).split('/');
  const accountId = String(req.headers['x-account']);
  const answer =
    id === undefined
      ? list(accountId)
      : part === undefined
        ? session(accountId, id)
        : transcriptUnlessKnown(req.headers['if-none-match'], accountId, id);
  answer.then(
    (text) => (text === '' ? res.writeHead(304).end() : send(res, 200, text)),
    () => send(res, 500, '{}'),
  );
}).listen(Number(PORT), HOST);
process.on('SIGTERM', () => process.exit(0));
