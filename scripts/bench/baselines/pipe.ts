/**
 * The least that an upload can cost. `POST /file` pipes the body, whatever it is, to a file, and flushes it to disk
 * (fsync) before the answer. `POST /file-and-rows` does the same for a short body and runs the statements of the
 * service's transaction, prepared.
 */
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import type { IncomingMessage } from 'node:http';

const { DATABASE_URL: connectionString, PORT, HOST, FOLDER } = process.env;
const pool = new pg.Pool({ connectionString, max: 20 });
const folder = join(FOLDER!, 'piped');
await mkdir(folder, { recursive: true });

/** What the service reads and writes between begin and commit, in its order and in as few statements as possible. */
const statements = [
  'select * from accounts join plans using (plan) where id = $1 for update of accounts',
  'select id from api_keys where account_id = $1 and revoked_at is null',
  "select count(*) from sessions where account_id = $1 and status = 'queued'",
  `insert into sessions (account_id, id, job_id, queue_job_id, status, title, duration_ms, max_audio_ms, reserved_ms,
     attempts_left) values ($1, uuidv7(), uuidv7(), uuidv7(), 'queued', 'Board meeting', 1000, 14400000, 1000, 3)`,
  'update accounts set reserved_ms = reserved_ms + 1000 where id = $1',
  `with job as (insert into pgboss.job (name, data, group_id) values ('transcription', '{}', $1::text) returning id)
   select pg_notify('bench', 'transcription') from job`,
];

async function pipe(req: IncomingMessage): Promise<void> {
  await pipeline(req, createWriteStream(join(folder, randomUUID()), { flush: true }));
}

async function writeFileAndRows(req: IncomingMessage): Promise<void> {
  const file = await open(join(folder, randomUUID()), 'w');
  await file.write(await buffer(req));
  await file.sync();
  await file.close();

  const client = await pool.connect();
  await client.query('begin');
  for (const [index, text] of statements.entries()) {
    await client.query({ name: `s${index}`, text, values: [req.headers['x-account']] });
  }
  await client.query('commit');
  client.release();
}

const ways: Record<string, (req: IncomingMessage) => Promise<void>> = {
  '/file': pipe,
  '/file-and-rows': writeFileAndRows,
};

createServer({ requestTimeout: 0 }, (req, res) => {
  const way = ways[req.url!];
  if (way === undefined) return void res.writeHead(404).end();
  way(req).then(
    () => res.writeHead(202).end('{}'),
    (error: unknown) => res.writeHead(500).end(String(error)),
  );
}).listen(Number(PORT), HOST);
process.on('SIGTERM', () => process.exit(0));
