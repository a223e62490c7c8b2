/** The role `api`: the HTTP server around the app. */
import { createServer } from 'node:http';
import { answerParserRefusals } from '../api/connections/parser-refusals.ts';
import { limitSlowReaders, limitConnections } from '../api/connections/limits.ts';
import { createApp } from '../app.ts';
import { Auth } from '../api/access/auth.ts';
import { closeConnectionsWhen, closeGracefully, listen } from '../ops/listening.ts';
import { SessionSearch } from '../api/reads/search.ts';
import { SessionReads } from '../api/reads/session-reads.ts';
import { SessionWaits } from '../api/reads/waits.ts';
import { TranscriptBodies } from '../api/reads/transcripts.ts';
import { UploadsInFlight } from '../api/uploads/upload.ts';
import { UploadMeasurements } from '../api/uploads/measurement.ts';
import type { AppContext } from '../sessions/app-context.ts';

export type Api = Awaited<ReturnType<typeof startApi>>;

const graceMs = 15_000;

export async function startApi(context: AppContext, databaseUrl: string) {
  const { config, log, metrics } = context;
  const stopping = new AbortController();
  const sessions = new SessionReads(context.db);
  const waits = new SessionWaits(context.db, sessions, databaseUrl, log);
  const auth = new Auth(context);
  const uploads = new UploadsInFlight();
  metrics.readings.waits = () => waits.count;
  metrics.readings.uploads = () => uploads.count;
  const answer = await createApp(
    {
      ...context,
      sessions,
      search: new SessionSearch(context.db),
      measurements: new UploadMeasurements(),
      waits,
      transcriptBodies: new TranscriptBodies(),
    },
    auth,
    uploads,
    stopping.signal,
  );

  // Uploads have a time limit of their own, by progress instead of by the clock (uploads/receiving.ts).
  const server = createServer(
    {
      requestTimeout: 0,
      headersTimeout: 20_000,
      // How often Node looks for connections that are too slow.
      connectionsCheckingInterval: 5_000,
      keepAliveTimeout: 65_000,
      // The app refuses a missing Host itself, with a problem.
      requireHostHeader: false,
    },
    answer,
  );
  answerParserRefusals(server, config.corsOrigins);
  limitSlowReaders(server);
  limitConnections(server, log, metrics);
  // The app answers these as other requests, so "100 Continue" is sent only after every check of the headers.
  server.on('checkContinue', answer);
  server.on('checkExpectation', answer);
  closeConnectionsWhen(stopping.signal, server);

  await waits.start();
  const port = await listen(server, config.port, config.host, 'PORT');
  log.info({ host: config.host, port }, 'api answers');
  return {
    port,
    /** Refuses new requests, lets those in flight finish, and answers those that wait. */
    async stop() {
      stopping.abort();
      await closeGracefully(server, graceMs);
      await uploads.ended();
      await waits.stop();
    },
  };
}
