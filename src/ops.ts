/** `/healthz`, `/readyz` and `/metrics`, on a port of their own, for operators and not for clients. */
import { createServer } from 'node:http';
import { ping } from '../db/migrate.ts';
import { inTime } from './in-time.ts';
import type { Server, ServerResponse } from 'node:http';
import type { Foundation } from './context.ts';

const pingTimeoutMs = 2_000;

/**
 * @param whyNotServing a sentence while a half of this process does not serve, because it starts, stops or waits for
 *   the operator
 * @param notice a sentence about what keeps it from nothing but the next job
 */
export function createOpsServer(
  { db, metrics, log }: Foundation,
  whyNotServing: () => string | undefined,
  notice: () => string | undefined = () => undefined,
): Server {
  const answers: Record<string, (res: ServerResponse) => Promise<void>> = {
    '/healthz': async (res) => send(res, 200, 'text/plain', 'ok\n'),
    '/readyz': async (res) => {
      // Asked again at the end: the process may have begun to stop while the database was asked.
      const problem = whyNotServing() ?? (await whyNoDatabase()) ?? whyNotServing();
      const noticed = notice();
      const ready = noticed === undefined ? 'ready' : `ready, but ${noticed}`;
      send(res, problem === undefined ? 200 : 503, 'text/plain', `${problem ?? ready}\n`);
    },
    '/metrics': async (res) => send(res, 200, metrics.registry.contentType, await metrics.registry.metrics()),
  };

  async function whyNoDatabase(): Promise<string | undefined> {
    const asked = ping(db).then(
      () => undefined,
      () => 'the database can not be reached',
    );
    return inTime(asked, pingTimeoutMs, 'the database does not answer');
  }

  return createServer((req, res) => {
    const answer = answers[(req.url ?? '').split('?')[0]!];
    if (answer === undefined) return send(res, 404, 'text/plain', 'There are /healthz, /readyz and /metrics here.\n');
    answer(res).catch((error: unknown) => {
      log.warn({ err: error }, 'ops endpoint failed');
      send(res, 503, 'text/plain', 'unavailable\n');
    });
  });
}

function send(res: ServerResponse, status: number, contentType: string, body: string): void {
  const headers = { 'Content-Type': contentType, 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };
  res.writeHead(status, headers).end(body);
}
