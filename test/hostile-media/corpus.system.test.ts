/**
 * Every file of the corpus goes through the real service, its children watched by strace. Each gets what is decided for
 * it; nothing but the file, the output and the libraries is opened; the worker keeps serving.
 */
import { AudioError } from '../../src/audio/audio-error.ts';
import { findIsolation } from '../../src/children/bounded-command.ts';
import { decodeAudio } from '../../src/audio/decode.ts';
import { createSlots } from '../../src/recognizers/in-chunks.ts';
import { createSherpaOnnx } from '../../src/recognizers/sherpa-onnx/sherpa-onnx.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { expectSound } from '../support/service/audit.ts';
import { final, upload } from '../support/service/jobs.ts';
import { useService } from '../support/service/use-service.ts';
import { setUpBench } from './bench.ts';
import { corpus, makeCorpus } from './corpus.ts';
import { heardOfEachKind, timeLimitMs } from './effort.ts';
import { endedSessions, sendAll } from './sending.ts';
import { watchChildren } from './watch.ts';
import type { Recognizer } from '../../src/recognizers/recognizer.ts';
import type { TestAccount } from '../support/service/accounts.ts';
import type { Bench } from './bench.ts';
import type { MadeFile } from './corpus.ts';
import type { Outcome } from './entry.ts';
import type { EndedSession, SentFile } from './sending.ts';
import type { Watch } from './watch.ts';

const service = await useService({ env: { WORKER_CONCURRENCY: '2' } });
let bench: Bench;
let watch: Watch;
let files: MadeFile[];
const kinds = [...new Set(corpus.map(({ kind }) => kind))];

const own = createSherpaOnnx({ ...service.config.sherpaOnnxModel, slots: createSlots(1) });
let heard = 0;
/**
 * The default model for short audio, as often as the effort asks for it; otherwise nothing was said. In less than the
 * shortest voice of the detector, which can not stand before it here, nothing ever is.
 */
const recognizer: Recognizer = {
  ...own,
  async recognize(audio, options) {
    const isWorthIt = audio.durationMs >= 100 && audio.durationMs <= 2_500 && heard < heardOfEachKind;
    if (!isWorthIt) return { segments: [] };
    heard += 1;
    return own.recognize(audio, options);
  },
};

beforeAll(async () => {
  bench = await setUpBench();
  files = await makeCorpus(bench);
  // Its child begins before the watch, and stays: it is given samples, and no file.
  await own.check();
  watch = await watchChildren();
  await service.work(recognizer);
}, timeLimitMs);

/** So that the longest file takes no time to decode. */
const longestMs = 20 * 60_000;
const richAccount = (): Promise<TestAccount> =>
  makeAccount(service.db, {
    balanceMs: 1_000 * 3_600_000,
    limits: { requests_per_minute: 100_000, max_audio_ms: longestMs },
  });

test('the start of the service → says once whether its children have network', async () => {
  const isolated = (await findIsolation()) !== 'none';
  const lines = service.logLines.filter((line) => /children have (no )?network access/.test(line));
  expect(lines).toEqual([expect.stringContaining(`children have ${isolated ? 'no ' : ''}network access`)]);
});

test.each(kinds)(
  '%s → each file gets what is decided for it at the first attempt, and leads its readers nowhere',
  async (kind) => {
    heard = 0;
    const ofKind = files.filter((file) => file.kind === kind);
    const account = await richAccount();
    const sent = await sendAll(service, account, ofKind);
    const ended = await endedSessions(service, account, timeLimitMs);
    const refused = ofKind.filter((_, index) => /media|audio/.test(sent[index]!.code ?? ''));
    const takenByDecoder: string[] = [];
    for (const file of refused) if (!(await isRefusedByDecoder(file.bytes))) takenByDecoder.push(said(file));

    const children = await watch.children();
    const became = ofKind.map((file, index) => [said(file), whatBecame(file, sent[index]!, ended)]);
    expect(became).toEqual(ofKind.map((file) => [said(file), inWords(file.outcome)]));
    expect(takenByDecoder).toEqual([]);
    const strayed = children.filter(({ sockets, foreign }) => sockets.length + foreign.length > 0);
    expect(strayed).toEqual([]);
    expect(children.length).toBeGreaterThanOrEqual(ofKind.length - 1);
    expect(bench.connections()).toBe(0);
  },
  timeLimitMs,
);

test('after all of them → the worker still serves, the books are sound', async () => {
  heard = -Infinity;
  const account = await richAccount();
  const speech = await upload(service, account, bench.speech);
  const transcript = await final(service, account, speech.sessionId);
  expect(transcript).toMatchObject({ status: 'completed', durationMs: 2_000 });
  expect(transcript.segments.length).toBeGreaterThan(0);
  await expectSound(service);
  expect(service.logLines.filter((line) => (JSON.parse(line) as { level: number }).level >= 50)).toEqual([]);
});

/** What the upload refuses, the decoder must refuse as well: the one might miss what the other does. */
async function isRefusedByDecoder(bytes: Buffer): Promise<boolean> {
  const input = await bench.file('refused', bytes);
  const options = { input, output: `${input}.decoded`, maxDurationMs: 60_000, timeLimitMs: 60_000 };
  return decodeAudio(options).then(
    () => false,
    (error: unknown) => error instanceof AudioError,
  );
}

const said = ({ name, made }: MadeFile) => `${JSON.stringify(name.toString())}: ${made}`;

function inWords(outcome: Outcome): string {
  if ('answer' in outcome) return `${outcome.answer} ${outcome.code}`;
  if (outcome.session === 'failed') return `failed: ${outcome.code}, attempt 1`;
  return `completed after about ${outcome.durationMs} ms, attempt 1`;
}

function whatBecame({ outcome }: MadeFile, sent: SentFile, ended: Map<string, EndedSession>): string {
  if (sent.sessionId === undefined) return `${sent.status} ${sent.code}`;
  const session = ended.get(sent.sessionId);
  if (session?.status === 'failed') return `failed: ${session.error_code}, attempt ${session.attempt}`;
  const durationMs = Number(session?.duration_ms);
  const isClose = 'toleranceMs' in outcome && Math.abs(durationMs - outcome.durationMs) <= outcome.toleranceMs;
  const about = isClose ? outcome.durationMs : durationMs;
  return `${session?.status} after about ${about} ms, attempt ${session?.attempt}`;
}
