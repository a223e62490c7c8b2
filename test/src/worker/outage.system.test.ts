import { listLedger } from '../../../db/accounts/ledger.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { ffmpeg, sine } from '../../support/uploads/audio-fixtures.ts';
import { expectSound } from '../../support/service/audit.ts';
import { final, row, upload } from '../../support/service/jobs.ts';
import { startRelay } from '../../support/faults/relay.ts';
import { ScriptedRecognizer, gate, says } from '../../support/models/scripted-recognizer.ts';
import { useService } from '../../support/service/use-service.ts';
import { useFolder } from '../../support/use-folder.ts';
import { until } from '../../support/until.ts';

const api = await useService();
const folder = useFolder();
await ffmpeg(...sine(2), `${folder}/tone.wav`);
const relay = await startRelay(api.databaseUrl);
/** The process with the worker, which reaches the database through the relay. */
const away = await useService({ beside: api, env: { DATABASE_URL: relay.url } });

test('the database is away just when the attempt ends → another attempt, charged once', async () => {
  const account = await makeAccount(api.db, { balanceMs: 60_000 });
  const done = gate();
  const recognizer = new ScriptedRecognizer(async ({ options }) => {
    await done.passed(options.signal);
    return says('still here');
  });
  const worker = await away.work(recognizer);
  const { sessionId } = await upload(api, account, `${folder}/tone.wav`);
  await until(() => recognizer.calls.length === 1);
  relay.cut();
  done.open();
  await until(() => away.logLines.some((line) => line.includes('can not be recorded yet')));
  await relay.mend();
  expect(await final(api, account, sessionId)).toMatchObject({ status: 'completed' });
  expect(recognizer.of(sessionId)).toBe(2);
  expect(await row(api, account, sessionId)).toMatchObject({ attempts_left: 2 });
  expect((await listLedger(api.db, account.id)).map((entry) => entry.amount_ms)).toEqual([60_000, -2_000]);
  await worker.stop();
  await expectSound(api);
});
