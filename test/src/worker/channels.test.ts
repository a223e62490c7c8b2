import { listLedger } from '../../../db/accounts/ledger.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { expectSound } from '../../support/service/audit.ts';
import { final } from '../../support/service/jobs.ts';
import { ScriptedRecognizer, says } from '../../support/models/scripted-recognizer.ts';
import { ffmpeg, sine, speechClips, wordErrorRate } from '../../support/uploads/audio-fixtures.ts';
import { useFolder } from '../../support/use-folder.ts';
import { useService } from '../../support/service/use-service.ts';
import type { TestAccount } from '../../support/service/accounts.ts';
import type { Schema } from '../../../codegen/operations.ts';

const service = await useService();
const folder = useFolder();
let account: TestAccount;
beforeEach(async () => void (account = await makeAccount(service.db, { balanceMs: 60_000 })));
afterEach(() => expectSound(service));

async function send(file: string, channels = 'separate'): Promise<string> {
  const sent = service.post('/v1/transcriptions', account.key).field('channels', channels).attach('file', file);
  return ((await sent.expect(202)).body as { sessionId: string }).sessionId;
}

const charges = async () =>
  (await listLedger(service.db, account.id)).filter(({ kind }) => kind === 'charge').map(({ amount_ms }) => amount_ms);
const textOf = ({ segments }: Schema<'Transcript'>, channel: number) =>
  segments
    .filter((segment) => segment.channel === channel)
    .map(({ text }) => text)
    .join(' ');

test('two people with a microphone each → what each of them said, in order of time, charged once', async () => {
  const [first, second] = (await speechClips()).toSorted((a, b) => a.durationMs - b.durationMs);
  // The second one begins two seconds later, while the first one still speaks.
  const both = '[1:a]adelay=2000[later];[0:a][later]join=inputs=2:channel_layout=stereo[both]';
  const inputs = ['-i', first!.file, '-i', second!.file, '-filter_complex', both, '-map', '[both]'];
  const file = await ffmpeg(...inputs, `${folder}/call.flac`);
  const worker = await service.work();
  const transcript = await final(service, account, await send(file));
  await worker.stop();

  expect(transcript).toMatchObject({ status: 'completed', language: 'en' });
  for (const [channel, own, other] of [
    [1, first!, second!],
    [2, second!, first!],
  ] as const) {
    expect(wordErrorRate(own.text, textOf(transcript, channel))).toBeLessThan(0.7);
    expect(wordErrorRate(other.text, textOf(transcript, channel))).toBeGreaterThan(0.8);
  }
  const starts = transcript.segments.map(({ startMs }) => startMs);
  expect(starts).toEqual(starts.toSorted((a, b) => a - b));
  expect(transcript.segments.map(({ index }) => index)).toEqual(starts.map((_, index) => index));
  expect(
    Math.min(...transcript.segments.filter(({ channel }) => channel === 2).map(({ startMs }) => startMs)),
  ).toBeGreaterThan(1_900);
  expect(await charges()).toEqual([-transcript.durationMs!]);
  const { text } = await service
    .get(`/v1/sessions/${transcript.sessionId}/transcript?format=txt`, account.key)
    .expect(200);
  expect(text).toMatch(/^Channel 1: /m);
  expect(text).toMatch(/^Channel 2: /m);
});

test('what leaks over from the other channel, at -34 dB → is not said twice', async () => {
  const clips = (await speechClips()).toSorted((a, b) => a.durationMs - b.durationMs).slice(0, 3);
  // The first and the third are said into the first channel, one after the other in all.
  const inputs = clips.flatMap(({ file }) => ['-i', file]);
  const [one, two] = clips.map(({ durationMs }) => durationMs);
  const graph = [
    `[0:a]apad=whole_dur=${one! + two!}ms[before];[before][2:a]concat=v=0:a=1[left];[1:a]adelay=${one}[right]`,
    '[right]apad[longer];[left][longer]join=inputs=2:channel_layout=stereo,pan=stereo|c0=c0+0.02*c1|c1=c1+0.02*c0[both]',
  ].join(';');
  const file = await ffmpeg(...inputs, '-filter_complex', graph, '-map', '[both]', `${folder}/leak.flac`);
  const worker = await service.work();
  const transcript = await final(service, account, await send(file));
  await worker.stop();
  expect(wordErrorRate(`${clips[0]!.text} ${clips[2]!.text}`, textOf(transcript, 1))).toBeLessThan(0.1);
  expect(wordErrorRate(clips[1]!.text, textOf(transcript, 2))).toBeLessThan(0.1);
});

test('one channel → channel 1; mixed, as without the field → no channel', async () => {
  const file = await ffmpeg(...sine(2), `${folder}/tone.wav`);
  const worker = await service.work(new ScriptedRecognizer());
  const [separate, mixed] = [await send(file), await send(file, 'mixed')];
  expect(await final(service, account, separate)).toMatchObject({ segments: [{ text: 'hello world', channel: 1 }] });
  expect((await final(service, account, mixed)).segments[0]).not.toHaveProperty('channel');
  const session = async (id: string) =>
    (await service.get(`/v1/sessions/${id}`, account.key).expect(200)).body as object;
  expect(await session(separate)).toMatchObject({ channels: 'separate' });
  expect(await session(mixed)).not.toHaveProperty('channels');
  await worker.stop();
  expect(await charges()).toEqual([-2_000, -2_000]);
});

function tones(channels: number): Promise<string> {
  const all = new Array<string>(channels).fill('sin(440*2*PI*t)').join('|');
  return ffmpeg('-f', 'lavfi', '-i', `aevalsrc='${all}':d=1:s=16000`, `${folder}/${channels}.wav`);
}

test('eight channels → each recognized once, one charge; ten → too_many_channels, uncharged', async () => {
  const recognizer = new ScriptedRecognizer(async ({ earlier }) => says(`channel ${earlier + 1}`));
  const worker = await service.work(recognizer);
  const eight = await final(service, account, await send(await tones(8)));
  expect(eight.segments.map(({ text, channel }) => [text, channel])).toEqual(
    Array.from({ length: 8 }, (_, index) => [`channel ${index + 1}`, index + 1]),
  );
  expect(eight.durationMs).toBe(1_000);
  const ten = await final(service, account, await send(await tones(10)));
  expect(ten).toMatchObject({ status: 'failed', segments: [], error: { code: 'too_many_channels' } });
  await worker.stop();
  expect(recognizer.of(ten.sessionId)).toBe(0);
  expect(await charges()).toEqual([-1_000]);
});

test('channels that are heard one by one → cost as many turns as there are', async () => {
  const tagsAfter = async (...channels: string[]) => {
    account = await makeAccount(service.db, { limits: { running_jobs: 1 } });
    for (const each of channels) await send(await tones(8), each);
    const sessions = service.db.selectFrom('sessions').where('account_id', '=', account.id).orderBy('created_at');
    const [first, next] = (await sessions.select('start_tag').execute()).map((row) => row.start_tag);
    return next! - first!;
  };
  // A second of audio, in tenths, and one more.
  expect([await tagsAfter('mixed', 'mixed'), await tagsAfter('separate', 'mixed')]).toEqual([11, 81]);
});
