import { basename, join } from 'node:path';
import { listLedger } from '../../../db/accounts/ledger.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { ffmpeg, silence, speechClips, wordErrorRate } from '../../support/uploads/audio-fixtures.ts';
import { expectSound } from '../../support/service/audit.ts';
import { final, upload } from '../../support/service/jobs.ts';
import { useService } from '../../support/service/use-service.ts';
import { useFolder } from '../../support/use-folder.ts';
import { until } from '../../support/until.ts';
import type { SpeechClip } from '../../support/uploads/audio-fixtures.ts';

const service = await useService();
const folder = useFolder();
beforeAll(async () => {
  await service.work();
});
afterEach(() => expectSound(service));

test('five clips of quiet human speech, at -30 dB → word error rate of at most 0.05, charged exactly their durations', async () => {
  const account = await makeAccount(service.db, { balanceMs: 100_000 });
  const clips = await speechClips();
  expect(clips).toHaveLength(5);
  const quiet = ({ file }: SpeechClip) => ffmpeg('-i', file, '-af', 'volume=-30dB', join(folder, basename(file)));
  const sessions = await Promise.all(clips.map(async (clip) => upload(service, account, await quiet(clip))));
  const transcripts = await Promise.all(sessions.map(({ sessionId }) => final(service, account, sessionId)));

  for (const [i, transcript] of transcripts.entries()) {
    expect(transcript).toMatchObject({ status: 'completed', durationMs: clips[i]!.durationMs, language: 'en' });
    const { body: session } = await service.get(`/v1/sessions/${transcript.sessionId}`, account.key).expect(200);
    expect(session).toMatchObject({ status: 'completed', durationMs: clips[i]!.durationMs });
    const times = [session.createdAt, session.startedAt, session.completedAt].map((time: string) => Date.parse(time));
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(session).not.toHaveProperty('progress');
    expect(session).not.toHaveProperty('error');
    const hasAudio = () => service.audioStore.exists(account.id, transcript.sessionId);
    // Removed after the answer.
    await until(hasAudio, (exists) => !exists);
  }
  const heard = transcripts.map(({ segments }) => segments.map((segment) => segment.text).join(' '));
  expect(wordErrorRate(clips.map((clip) => clip.text).join(' '), heard.join(' '))).toBeLessThanOrEqual(0.05);

  const totalMs = clips.reduce((sum, clip) => sum + clip.durationMs, 0);
  const { balance_ms, reserved_ms } = await balanceOf(account.id);
  expect({ balance_ms, reserved_ms }).toEqual({ balance_ms: 100_000 - totalMs, reserved_ms: 0 });
  const charges = (await listLedger(service.db, account.id)).filter((entry) => entry.kind === 'charge');
  expect(new Map(charges.map((charge) => [charge.session_id, charge.amount_ms]))).toEqual(
    new Map(sessions.map(({ sessionId }, i) => [sessionId, -clips[i]!.durationMs])),
  );
});

test('five clips with pauses of 1.8 s between them → the captions of each are shown while it is said', async () => {
  const account = await makeAccount(service.db, { balanceMs: 100_000 });
  const clips = await speechClips();
  const padded = clips.map((_, index) => `[${index}]apad=pad_dur=1.8[p${index}]`).join(';');
  const inOrder = clips.map((_, index) => `[p${index}]`).join('');
  const joined = [
    '-filter_complex',
    `${padded};${inOrder}concat=n=${clips.length}:v=0:a=1`,
    join(folder, 'pauses.wav'),
  ];
  const file = await ffmpeg(...clips.flatMap((clip) => ['-i', clip.file]), ...joined);
  const { sessionId } = await upload(service, account, file);
  const { segments } = await final(service, account, sessionId);
  let atMs = 0;
  for (const { text, durationMs } of clips) {
    const shown = segments.filter(({ startMs, endMs }) => startMs >= atMs - 300 && endMs <= atMs + durationMs + 300);
    expect(wordErrorRate(text, shown.map((segment) => segment.text).join(' '))).toBeLessThanOrEqual(0.15);
    atMs += durationMs + 1_800;
  }
});

const applause =
  'aevalsrc=(random(0)-0.5)*exp(-30*mod(t\\,0.11))+(random(1)-0.5)*exp(-30*mod(t+0.05\\,0.13)):s=16000:d=3';

test.each([
  ['silence', silence(3)],
  ['applause', ['-f', 'lavfi', '-i', applause]],
])('%s → completed without segments and without a charge', async (name, source) => {
  const account = await makeAccount(service.db, { balanceMs: 10_000 });
  const { sessionId } = await upload(service, account, await ffmpeg(...source, `${folder}/${name}.flac`));
  const transcript = await final(service, account, sessionId);
  expect(transcript).toEqual({ sessionId, status: 'completed', durationMs: 3_000, segments: [] });
  expect(await balanceOf(account.id)).toEqual({ balance_ms: 10_000, reserved_ms: 0 });
});

function balanceOf(id: string) {
  const account = service.db.selectFrom('accounts').select(['balance_ms', 'reserved_ms']);
  return account.where('id', '=', id).executeTakeFirstOrThrow();
}
