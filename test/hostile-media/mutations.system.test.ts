/** Mutated files, from a seeded fuzzer: whatever they are, the service answers, ends them, opens nothing else, and goes on. */
import { makeAccount } from '../support/service/accounts.ts';
import { expectSound } from '../support/service/audit.ts';
import { final, upload } from '../support/service/jobs.ts';
import { ScriptedRecognizer } from '../support/models/scripted-recognizer.ts';
import { useService } from '../support/service/use-service.ts';
import { setUpBench } from './bench.ts';
import { makeCorpus } from './corpus.ts';
import { isThorough, mutations, seed, timeLimitMs } from './effort.ts';
import { mutantOf, seededRandom } from './mutations.ts';
import { endedSessions, sendAll } from './sending.ts';
import { watchChildren } from './watch.ts';
import type { TestAccount } from '../support/service/accounts.ts';
import type { Bench } from './bench.ts';
import type { MadeFile } from './corpus.ts';
import type { HostileFile } from './entry.ts';
import type { Mutant } from './mutations.ts';
import type { EndedSession, SentFile } from './sending.ts';
import type { Watch } from './watch.ts';

/** Making the others takes longer than mutating these. */
const goodKinds = isThorough ? /samples|tracks|containers/ : /samples/;
const largest = 100_000;
const atOnce = 100;

const service = await useService({ env: { WORKER_CONCURRENCY: '2' } });
let bench: Bench;
let watch: Watch;
let good: MadeFile[];

beforeAll(async () => {
  bench = await setUpBench();
  const isGood = ({ kind, outcome }: HostileFile) => goodKinds.test(kind) && 'durationMs' in outcome;
  good = (await makeCorpus(bench, isGood)).filter(({ bytes }) => bytes.length <= largest);
  watch = await watchChildren();
  await service.work(new ScriptedRecognizer(async ({ durationMs }) => hello(durationMs)));
}, timeLimitMs);

/** Something to pay for, within the audio. */
function hello(durationMs: number) {
  const word = { startMs: 0, endMs: Math.min(100, durationMs), text: 'hello' };
  return { segments: [{ index: 0, ...word, words: [word] }] };
}

const decidedAnswers = /^(415 unsupported_media|422 (no_audio_track|audio_too_long)|400 empty_file)$/;
const decidedErrors = /^(unsupported_media|no_audio_track|audio_too_long|timed_out)$/;

/** What was not decided; undefined when all is well. */
function fault({ name }: Mutant, sent: SentFile, ended: EndedSession | undefined): string | undefined {
  const refusal = `${sent.status} ${sent.code}`;
  if (sent.sessionId === undefined) return decidedAnswers.test(refusal) ? undefined : `${name}: ${refusal}`;
  if (ended?.status === 'completed') return undefined;
  const isDecided = ended?.status === 'failed' && decidedErrors.test(ended.error_code!);
  return isDecided ? undefined : `${name}: ${ended?.status} ${ended?.error_code} after ${ended?.attempt} attempts`;
}

test(
  `${mutations} mutants of seed ${seed} → each is refused or ends as decided; a good file is served after them`,
  async () => {
    const random = seededRandom(seed);
    const faults: string[] = [];
    for (let made = 0; made < mutations; made += atOnce) {
      const mutants = Array.from({ length: Math.min(atOnce, mutations - made) }, () => mutantOf(good, random));
      const account = await accountForAll();
      const sent = await sendAll(service, account, mutants);
      const ended = await endedSessions(service, account, timeLimitMs);
      mutants.forEach((mutant, index) => {
        const session = ended.get(sent[index]!.sessionId!);
        const wrong = fault(mutant, sent[index]!, session);
        if (wrong !== undefined) faults.push(`${made + index}: ${wrong}`);
      });
      const children = await watch.children();
      expect(children.length).toBeGreaterThanOrEqual(mutants.length - 5);
      const strayed = children.filter(({ sockets, foreign }) => sockets.length + foreign.length > 0);
      faults.push(...strayed.map((child) => JSON.stringify(child)));
    }
    expect(faults).toEqual([]);
    expect(bench.connections()).toBe(0);

    const account = await accountForAll();
    const { sessionId } = await upload(service, account, bench.speech);
    const transcript = await final(service, account, sessionId);
    expect(transcript).toMatchObject({ status: 'completed', durationMs: 2_000, segments: [{ text: 'hello' }] });
    await expectSound(service);
  },
  timeLimitMs,
);

/** Lying durations reserve hours each. */
const accountForAll = (): Promise<TestAccount> =>
  makeAccount(service.db, { balanceMs: 100_000 * 3_600_000, limits: { requests_per_minute: 100_000 } });
