/** `/healthz`, `/readyz` and `/metrics`, on a port of their own, for operators and not for clients. */
import { createServer } from 'node:http';
import { Registry } from 'prom-client';
import { closeGracefully, listen } from './listening.ts';
import type { ServerResponse } from 'node:http';
import type { Log } from './log.ts';

/** Whether a process does its work. */
export interface Readiness {
  /** A sentence about what keeps it from its work; left out when nothing does. */
  problem?: string;
  /** A sentence about what keeps it from nothing but the next job. */
  notice?: string;
}

/** What the port shows. */
export interface Shown {
  readiness(): Promise<Readiness>;
  registry: Registry;
}

const closeGraceMs = 1_000;

/** @returns closes the port @throws when it is taken */
export async function showOnPort(
  shown: Shown,
  { opsPort, host }: { opsPort: number; host: string },
  log: Log,
): Promise<() => Promise<void>> {
  const answers: Record<string, (res: ServerResponse) => Promise<void>> = {
    // A process that answers at all is alive.
    '/healthz': async (res) => send(res, 200, 'text/plain', 'ok\n'),
    '/readyz': async (res) => {
      const { problem, notice } = await shown.readiness();
      const ready = notice === undefined ? 'ready' : `ready, but ${notice}`;
      send(res, problem === undefined ? 200 : 503, 'text/plain', `${problem ?? ready}\n`);
    },
    '/metrics': async (res) => send(res, 200, Registry.PROMETHEUS_CONTENT_TYPE, await shown.registry.metrics()),
  };

  const server = createServer((req, res) => {
    const answer = answers[(req.url ?? '').split('?')[0]!];
    if (answer === undefined) return send(res, 404, 'text/plain', 'There are /healthz, /readyz and /metrics here.\n');
    answer(res).catch((error: unknown) => {
      log.warn({ err: error }, 'ops endpoint failed');
      send(res, 503, 'text/plain', 'unavailable\n');
    });
  });
  await listen(server, opsPort, host, 'OPS_PORT');
  return () => closeGracefully(server, closeGraceMs);
}

function send(res: ServerResponse, status: number, contentType: string, body: string): void {
  const headers = { 'Content-Type': contentType, 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };
  res.writeHead(status, headers).end(body);
}
