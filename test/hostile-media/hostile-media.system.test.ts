/**
 * Hostile files go through the real service, its children watched by strace. Each gets what is decided for it; nothing but
 * the file, the output and the libraries is opened; the worker keeps serving.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { AudioError } from '../../src/audio/audio-error.ts';
import { findIsolation } from '../../src/children/bounded-command.ts';
import { decodeAudio } from '../../src/audio/decode.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { expectSound } from '../support/service/audit.ts';
import { finalRow } from '../support/service/jobs.ts';
import { useService } from '../support/service/use-service.ts';
import { ScriptedRecognizer } from '../support/models/scripted-recognizer.ts';
import { useFolder } from '../support/use-folder.ts';
import { goodFiles, makeCorpus } from './corpus.ts';
import { mutantsOf } from './mutants.ts';
import { watchChildren } from './watch.ts';
import type { HostileFile, Outcome } from './corpus.ts';

/** Half as many as of requests, and the seed that repeats a run: `test/contract/requests.ts`. */
const mutants = Math.ceil(Number(process.env.FUZZ_CASES ?? 100) / 2);
const seed = Number(process.env.FUZZ_SEED ?? 1);

const folder = useFolder();
const service = await useService({ env: { WORKER_CONCURRENCY: '2' } });
/** Lying durations reserve hours each. */
const account = await makeAccount(service.db, {
  balanceMs: 100_000 * 3_600_000,
  limits: { requests_per_minute: 100_000, queued_sessions: 100_000 },
});
const limit = pLimit(3);
let strayed: Awaited<ReturnType<typeof watchChildren>>;
beforeAll(async () => {
  strayed = await watchChildren();
  await service.work(new ScriptedRecognizer(async ({ durationMs }) => hello(durationMs)));
});

/** Something to pay for, within the audio. */
function hello(durationMs: number) {
  const word = { startMs: 0, endMs: Math.min(100, durationMs), text: 'hello' };
  return { segments: [{ index: 0, ...word, words: [word] }] };
}

test('the start of the service → says once whether its children have network', async () => {
  const isolated = (await findIsolation()) !== 'none';
  const lines = service.logLines.filter((line) => /children have (no )?network access/.test(line));
  expect(lines).toEqual([expect.stringContaining(`children have ${isolated ? 'no ' : ''}network access`)]);
});

/** What becomes of a file at its first attempt. */
async function outcomeOf({ name, bytes }: Pick<HostileFile, 'name' | 'bytes'>): Promise<Outcome> {
  const { status, body } = await service.post('/v1/transcriptions', account.key).attach('file', bytes, name);
  if (status !== 202) return `${status} ${body.code}`;
  const session = await finalRow(service, account, String(body.sessionId));
  if (session.attempt !== 1) return `${session.status} at attempt ${session.attempt}`;
  return session.status === 'failed' ? `failed: ${session.error_code}` : session.duration_ms!;
}

/** Codecs may add or lack a little, and so may what is very slow. */
const isAsDecided = (found: Outcome, decided: Outcome) =>
  typeof found === 'number' && typeof decided === 'number'
    ? Math.abs(found - decided) <= 60 + decided / 200
    : found === decided;

test('each file of the corpus → gets what is decided for it, and leads its readers nowhere', async () => {
  const corpus = await makeCorpus();
  const found = await Promise.all(corpus.map((file) => limit(() => outcomeOf(file))));
  const wrong = corpus.flatMap(({ name, outcome }, index) =>
    isAsDecided(found[index]!, outcome) ? [] : `${name}: ${found[index]}, not ${outcome}`,
  );
  expect(wrong).toEqual([]);
  // What the upload refuses, the decoder must refuse as well: the one might miss what the other does.
  const refused = corpus.filter((_, index) => String(found[index]).startsWith('4'));
  const taken = await Promise.all(refused.map((file) => limit(() => isTakenByDecoder(file))));
  expect(refused.filter((_, index) => taken[index])).toEqual([]);
  const children = await strayed();
  expect(children.flat()).toEqual([]);
  expect(children.length).toBeGreaterThanOrEqual(corpus.length);
});

async function isTakenByDecoder({ name, bytes }: HostileFile): Promise<boolean> {
  const input = join(folder, name);
  await writeFile(input, bytes);
  const decoding = decodeAudio({ input, output: `${input}.decoded`, maxDurationMs: 60_000, timeLimitMs: 60_000 });
  return decoding.then(
    () => true,
    (error: unknown) => !(error instanceof AudioError),
  );
}

const decided =
  /^(\d+|415 unsupported_media|422 (no_audio_track|audio_too_long|too_many_channels)|400 empty_file|failed: (unsupported_media|no_audio_track|audio_too_long|timed_out))$/;

test(`${mutants} mutants of seed ${seed} → each is refused or ends as decided, and leads nowhere`, async () => {
  const made = mutantsOf(await goodFiles(), mutants, seed);
  const found = await Promise.all(made.map((bytes) => limit(() => outcomeOf({ name: 'mutant', bytes }))));
  const wrong = found.flatMap((outcome, index) => (decided.test(String(outcome)) ? [] : `${index}: ${outcome}`));
  expect(wrong).toEqual([]);
  const children = await strayed();
  expect(children.flat()).toEqual([]);
  expect(children.length).toBeGreaterThanOrEqual(mutants);
});

test('after all of them → the worker still serves, the books are sound', async () => {
  const [good] = await goodFiles();
  expect(await outcomeOf({ name: 'good.wav', bytes: good! })).toBe(1_000);
  await expectSound(service);
  expect(service.logLines.filter((line) => (JSON.parse(line) as { level: number }).level >= 50)).toEqual([]);
});
