/**
 * Uploads and waiting clients by the hundred, all at once, against an API process and a worker. `HOSTILE_CLIENTS=full`:
 * 500 uploads and 2,000 clients that wait.
 */
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { makeAccount } from '../support/service/accounts.ts';
import { startProcess } from '../support/service/processes.ts';
import { expectSound } from '../support/service/audit.ts';
import { ScriptedRecognizer } from '../support/models/scripted-recognizer.ts';
import { useService } from '../support/service/use-service.ts';
import { filePart, form, formType, tone } from '../support/uploads/uploads.ts';
import type { IncomingMessage } from 'node:http';
import type { TestAccount } from '../support/service/accounts.ts';

const [accountCount, uploadsEach, waitersEach] = process.env.HOSTILE_CLIENTS === 'full' ? [10, 50, 4] : [4, 10, 5];
const service = await useService({ env: { WORKER_CONCURRENCY: '4' } });

interface Seen {
  status: number;
  body: { sessionId: string; status: string; segments?: unknown[]; code?: string };
}

test(`${accountCount * uploadsEach} uploads and ${accountCount * uploadsEach * waitersEach} waits at once → all answered, all stored, none lost`, async () => {
  const limits = { requests_per_minute: 1_000_000, queued_sessions: uploadsEach - 5, running_jobs: 4 };
  const accounts = await Promise.all(Array.from({ length: accountCount }, () => makeAccount(service.db, { limits })));
  const api = await startProcess('start-api', { DATABASE_URL: service.databaseUrl, DATA_DIR: service.dataDir });
  await service.work(new ScriptedRecognizer());
  const body = form(filePart(await tone(200)));
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity });
  const counts: Record<string, number> = {};

  async function send(
    account: TestAccount,
    method: string,
    path: string,
    headers = {},
    content?: Buffer,
  ): Promise<Seen> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const authorization = `Bearer ${account.key}`;
    const all = { ...headers, authorization, ...(content && { 'content-length': content.length }) };
    request({ port: api.port, agent, method, path, headers: all }, resolve).once('error', reject).end(content);
    const answer = await promise;
    const seen = { status: answer.statusCode!, body: JSON.parse(await text(answer)) as Seen['body'] };
    const kind = `${method} ${seen.status} ${seen.body.code ?? seen.body.status}`;
    counts[kind] = (counts[kind] ?? 0) + 1;
    return seen;
  }

  /** As clients do: again when it was one too many. */
  async function upload(account: TestAccount, key: string): Promise<string> {
    for (;;) {
      const headers = { 'content-type': formType, 'idempotency-key': key };
      const { status, body: seen } = await send(account, 'POST', '/v1/transcriptions', headers, body);
      if (status === 202) return seen.sessionId;
      expect([status, seen.code]).toEqual([429, 'too_many_queued']);
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }

  async function waitFor(account: TestAccount, id: string): Promise<Seen['body']> {
    for (;;) {
      const seen = await send(account, 'GET', `/v1/sessions/${id}/transcript?wait=30`);
      expect(seen.status).toBe(200);
      if (['completed', 'failed'].includes(seen.body.status)) return seen.body;
    }
  }

  try {
    const ended = await Promise.all(
      accounts.flatMap((account) =>
        Array.from({ length: uploadsEach }, async (_, i) => {
          const id = await upload(account, `upload-${i}`);
          return Promise.all(Array.from({ length: waitersEach }, () => waitFor(account, id)));
        }),
      ),
    );
    const transcripts = ended.flat();
    expect(transcripts).toHaveLength(accountCount * uploadsEach * waitersEach);
    expect(transcripts.filter(({ status, segments }) => status !== 'completed' || segments?.length !== 1)).toEqual([]);
    expect(new Set(transcripts.map(({ sessionId }) => sessionId)).size).toBe(accountCount * uploadsEach);
    const decided = /^(POST 202 queued|POST 429 too_many_queued|GET 200 (queued|processing|completed))$/;
    expect(Object.keys(counts).filter((kind) => !decided.test(kind))).toEqual([]);
    expect(counts['POST 202 queued']).toBe(accountCount * uploadsEach);
    await expectSound(service);
    if (process.env.HOSTILE_CLIENTS !== undefined) process.stderr.write(`${JSON.stringify(counts)}\n`);
  } finally {
    agent.destroy();
    await api.stop();
  }
});
