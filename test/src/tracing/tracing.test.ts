/** An upload's trace: from its request to its worker, to the recognizer's server, and to a collector. */
import { join } from 'node:path';
import { cp } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { createLog } from '../../../src/ops/log.ts';
import { selectRecognizer } from '../../../src/recognizers/select.ts';
import { SpanKind, beginSpan, collectSpans } from '../../../src/tracing/tracing.ts';
import { atEnd } from '../../support/at-end.ts';
import { startSpeechServer } from '../../support/models/speech-server.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { final } from '../../support/service/jobs.ts';
import { startTestService } from '../../support/service/service.ts';
import { serve as serveHttp } from '../../support/serve.ts';
import { speechClips } from '../../support/uploads/audio-fixtures.ts';
import { until } from '../../support/until.ts';
import { useFolder } from '../../support/use-folder.ts';
import type { RunningSpeechServer } from '../../support/models/speech-server.ts';
import type { TestAccount } from '../../support/service/accounts.ts';
import type { TestService } from '../../support/service/service.ts';

interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  /** 1 internal, 2 server, 3 client, 5 consumer. */
  kind: number;
  attributes: { key: string; value: Record<string, unknown> }[];
}

interface Export {
  resourceSpans: { resource: object; scopeSpans: { spans: ReceivedSpan[] }[] }[];
}

/** Receives spans as an OpenTelemetry collector does: OTLP over HTTP, as JSON. */
async function startSpanCollector() {
  const bodies: string[] = [];
  const { url, close } = await serveHttp((req, res) => {
    void text(req).then((body) => {
      const isExport = req.method === 'POST' && req.url === '/v1/traces';
      if (isExport && req.headers['content-type'] === 'application/json') bodies.push(body);
      res.writeHead(isExport ? 200 : 404, { 'Content-Type': 'application/json' }).end('{}');
    });
  });
  return {
    ...{ url, bodies, close },
    spans: () =>
      bodies
        .flatMap((body) => (JSON.parse(body) as Export).resourceSpans)
        .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
  };
}

const folder = useFolder();
const secrets = ['Merger', 'the words that were said', 'sk-proj-0123456789abcdefSECRET'] as const;
const [title, said, apiKey] = secrets;
const [traceId, clientSpan] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
const fromClient = `00-${traceId}-${clientSpan}-01`;

let collector: Awaited<ReturnType<typeof startSpanCollector>>;
let speech: RunningSpeechServer;
beforeAll(async () => {
  collector = await startSpanCollector();
  const words = said.split(' ').map((word, index) => ({ word, start: index / 10, end: index / 10 + 0.1 }));
  speech = await startSpeechServer({ script: () => ({ status: 200, body: { text: said, words } }) });
  atEnd(speech.close);
});

/** A service at whose end every span has been sent. */
async function serve(env: Record<string, string>, work: (service: TestService, account: TestAccount) => Promise<void>) {
  const openai = { RECOGNIZER: 'openai', OPENAI_BASE_URL: speech.url, OPENAI_API_KEY: apiKey };
  const service = await startTestService({ env: { ...openai, ...env } });
  try {
    await service.work(await selectRecognizer(service.config));
    await work(service, await makeAccount(service.db));
  } finally {
    await service.stop();
  }
}

async function transcribe(service: TestService, account: TestAccount, headers: Record<string, string>) {
  const file = join(folder, `${title}.wav`);
  await cp((await speechClips())[1]!.file, file);
  const uploading = service.post('/v1/transcriptions', account.key).attach('file', file).set(headers).expect(202);
  const { sessionId } = (await uploading).body as { sessionId: string };
  expect(await final(service, account, sessionId)).toMatchObject({ status: 'completed' });
  const heard = speech.requests.at(-1)!.headers['traceparent'];
  const lines = service.logLines.map((line) => JSON.parse(line) as Record<string, string>);
  const request = lines.find(({ operation }) => operation === 'createTranscription')!;
  const attempt = await until(() =>
    service.logLines
      .map((line) => JSON.parse(line) as Record<string, string>)
      .find((line) => line.msg === 'attempt ended' && line.sessionId === sessionId),
  );
  return { sessionId, heard, request, attempt: attempt! };
}

test('a collector and a client that traces → one trace: request, attempt, decoding, recognizing, a chunk, storing', async () => {
  let seen: Awaited<ReturnType<typeof transcribe>>;
  await serve({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }, async (service, account) => {
    seen = await transcribe(service, account, { traceparent: fromClient });
  });
  const spans = collector.spans().filter((span) => span.traceId === traceId);
  const named = (name: string) => spans.find((span) => span.name === name)!;
  const parentOf = ({ parentSpanId }: ReceivedSpan) => spans.find(({ spanId }) => spanId === parentSpanId)?.name;
  expect(spans.map((span) => [span.name, span.kind, parentOf(span)]).sort()).toEqual([
    ['attempt', 5, 'createTranscription'],
    ['chunk', 3, 'recognize'],
    ['createTranscription', 2, undefined],
    ['decode', 1, 'attempt'],
    ['recognize', 1, 'attempt'],
    ['store', 1, 'attempt'],
  ]);
  const request = named('createTranscription');
  expect(request.parentSpanId).toBe(clientSpan);
  expect(request.attributes).toContainEqual({ key: 'http.response.status_code', value: { intValue: 202 } });
  expect(seen!.heard).toBe(`00-${traceId}-${named('chunk').spanId}-01`);
  expect(seen!.request).toMatchObject({ trace_id: traceId, span_id: request.spanId });
  expect(seen!.attempt).toMatchObject({ trace_id: traceId, span_id: named('attempt').spanId });

  const sent = collector.bodies.join('\n');
  expect(sent).toContain('"transcription"');
  expect(sent).toContain(seen!.sessionId);
  for (const secret of [...secrets, 'tsk_']) expect(sent).not.toContain(secret);
});

test('no collector → the client’s traceparent goes on as it came; a malformed one is no error, and belongs to no trace', async () => {
  await serve({}, async (service, account) => {
    const traced = await transcribe(service, account, { traceparent: fromClient });
    expect(traced.heard).toBe(fromClient);
    for (const line of [traced.request, traced.attempt])
      expect(line).toMatchObject({ trace_id: traceId, span_id: clientSpan });

    const odd = await transcribe(service, account, { traceparent: `00-${traceId}-0-01` });
    expect(odd.heard).toBeUndefined();
    expect(odd.attempt).not.toHaveProperty('trace_id');
    // A read that nobody traces belongs to no trace.
    const reads = service.logLines.filter((line) => line.includes('"getTranscript"'));
    expect(reads.join()).not.toContain('trace_id');
  });
});

test('a collector that is away → one line in the log, however many spans are lost', async () => {
  process.env.OTEL_EXPORTER_OTLP_TIMEOUT = '500';
  atEnd(() => void delete process.env.OTEL_EXPORTER_OTLP_TIMEOUT);
  const lines: string[] = [];
  const log = createLog({ logLevel: 'info' }, { write: (line) => void lines.push(line) });
  const away = await startSpanCollector();
  await away.close();
  const sendSpans = await collectSpans(away.url, log);
  for (let spans = 0; spans < 1_000; spans += 1) beginSpan('attempt', { kind: SpanKind.CONSUMER }, undefined).end();
  await sendSpans();
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/spans can not be sent to OTEL_EXPORTER_OTLP_ENDPOINT/);
});
