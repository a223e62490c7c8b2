/** The answering half: the HTTP server around the app. */
import { createServer } from 'node:http';
import { answerClientError } from './api/parser-refusals.ts';
import { createApp } from './app.ts';
import { Auth } from './auth.ts';
import { closeGracefully, listen } from './listening.ts';
import { SessionWaits } from './session-waits.ts';
import { TranscriptBodies } from './transcript-bodies.ts';
import type { Foundation } from './context.ts';

export interface Api {
  readonly port: number;
  /** Refuses new requests, lets those in flight finish, and answers those that wait. */
  stop(): Promise<void>;
}

const headersTimeoutMs = 20_000;
const graceMs = 15_000;

export async function startApi(foundation: Foundation, databaseUrl: string): Promise<Api> {
  const { config, log } = foundation;
  const stopping = new AbortController();
  const waits = new SessionWaits(foundation.db, databaseUrl, log);
  const auth = new Auth(foundation);
  const app = await createApp(
    { ...foundation, waits, transcriptBodies: new TranscriptBodies() },
    auth,
    stopping.signal,
  );

  // Uploads have a time limit of their own, by progress instead of by the clock (upload-meter.ts).
  const server = createServer(
    // A missing Host is refused by the app, with a problem.
    { requestTimeout: 0, headersTimeout: headersTimeoutMs, keepAliveTimeout: 65_000, requireHostHeader: false },
    app,
  );
  server.on('clientError', answerClientError);
  // Answered by the app like any request, so that "100 Continue" is sent only after every check of the headers.
  server.on('checkContinue', app);
  server.on('checkExpectation', app);

  await waits.start();
  auth.start();
  const port = await listen(server, config.port, config.host, 'PORT');
  log.info({ host: config.host, port }, 'api answers');
  return {
    port,
    async stop() {
      stopping.abort();
      await closeGracefully(server, graceMs);
      await Promise.all([waits.stop(), auth.stop()]);
    },
  };
}
