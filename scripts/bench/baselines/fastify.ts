/**
 * What a good team would write in a week: Fastify 5 with schemas for requests and answers, pg with its usual dates, a
 * row for each segment (`bench_segments`). It has no authentication, allowance, log or metrics, which makes it faster
 * than it would be. With `EQUAL_WORK=1` it has all of these except metrics (`equal-work.ts`).
 */
import fastify from 'fastify';
import pg from 'pg';
import { doEqualWork } from './equal-work.ts';

const { DATABASE_URL: connectionString, PORT, HOST, EQUAL_WORK } = process.env;
const pool = new pg.Pool({ connectionString, max: 20, options: '-c timezone=UTC' } as pg.PoolConfig);
const app = fastify();
if (EQUAL_WORK === '1') doEqualWork(app, pool);

const text = { type: 'string' };
const integer = { type: 'integer' };
const time = { type: 'string', format: 'date-time' };
const sessionSchema = {
  type: 'object',
  properties: {
    ...{ id: text, status: text, title: text, createdAt: time, startedAt: time, completedAt: time },
    ...{ durationMs: integer, language: text },
  },
};
const listSchema = {
  type: 'object',
  properties: { items: { type: 'array', items: sessionSchema }, nextCursor: text },
};
const segmentSchema = {
  type: 'object',
  properties: { index: integer, startMs: integer, endMs: integer, text, confidence: { type: 'number' } },
};
const transcriptSchema = {
  type: 'object',
  properties: {
    ...{ sessionId: text, status: text, durationMs: integer, language: text },
    segments: { type: 'array', items: segmentSchema },
  },
};
const idSchema = { type: 'object', properties: { id: { type: 'string', format: 'uuid' } }, required: ['id'] };
const listQuery = {
  type: 'object',
  additionalProperties: false,
  properties: {
    limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    status: { type: 'array', items: { enum: ['queued', 'processing', 'completed', 'failed'] } },
    ...{ cursor: text, createdAfter: time, createdBefore: time },
  },
};
const transcriptQuery = {
  type: 'object',
  additionalProperties: false,
  properties: { wait: { type: 'integer', minimum: 0, maximum: 30, default: 0 }, include: { enum: ['words'] } },
};

interface SessionRow {
  id: string;
  status: string;
  title: string;
  created_at: Date;
  started_at: Date | null;
  completed_at: Date | null;
  duration_ms: number | null;
  language: string | null;
  transcript_version: string | null;
}

const columns = 'id, status, title, created_at, started_at, completed_at, duration_ms, language, transcript_version';

const toSession = (row: SessionRow) => ({
  ...{ id: row.id, status: row.status, title: row.title, createdAt: row.created_at },
  ...{ startedAt: row.started_at ?? undefined, completedAt: row.completed_at ?? undefined },
  ...{ durationMs: row.duration_ms ?? undefined, language: row.language ?? undefined },
});

async function findSession(accountId: unknown, id: string): Promise<SessionRow | undefined> {
  const statement = `select ${columns} from sessions where account_id = $1 and id = $2`;
  return (await pool.query<SessionRow>({ name: 'session', text: statement, values: [accountId, id] })).rows[0];
}

app.get<{ Querystring: { limit: number } }>(
  '/v1/sessions',
  { schema: { querystring: listQuery, response: { 200: listSchema } } },
  async ({ query, headers }) => {
    const { rows } = await pool.query<SessionRow>({
      name: 'list',
      text: `select ${columns} from sessions where account_id = $1 order by created_at desc, id desc limit $2`,
      values: [headers['x-account'], query.limit + 1],
    });
    const items = rows.slice(0, query.limit).map(toSession);
    const last = rows.length > query.limit ? items.at(-1) : undefined;
    const position = last && `${last.createdAt.toISOString()} ${last.id}`;
    return { items, nextCursor: position && Buffer.from(position).toString('base64url') };
  },
);

app.get<{ Params: { id: string } }>(
  '/v1/sessions/:id',
  { schema: { params: idSchema, response: { 200: sessionSchema } } },
  async ({ params, headers }, reply) => {
    const row = await findSession(headers['x-account'], params.id);
    return row === undefined ? reply.code(404).send() : toSession(row);
  },
);

app.get<{ Params: { id: string } }>(
  '/v1/sessions/:id/transcript',
  { schema: { params: idSchema, querystring: transcriptQuery, response: { 200: transcriptSchema } } },
  async ({ params, headers }, reply) => {
    const row = await findSession(headers['x-account'], params.id);
    if (row === undefined) return reply.code(404).send();
    if (headers['if-none-match'] === `W/"${row.transcript_version}.json"`) return reply.code(304).send();
    const { rows: segments } = await pool.query<{ index: number }>({
      name: 'segments',
      text: `select index, start_ms as "startMs", end_ms as "endMs", text, confidence from bench_segments
        where session_id = $1 order by index`,
      values: [params.id],
    });
    const { status, duration_ms: durationMs, language } = row;
    return { sessionId: params.id, status, durationMs, language, segments };
  },
);

process.on('SIGTERM', () => process.exit(0));
await app.listen({ port: Number(PORT), host: HOST ?? '127.0.0.1' });
