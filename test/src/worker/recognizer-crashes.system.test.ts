/** A recognizer whose processes crash again and again: one session fails, and nothing else notices. */
import { join } from 'node:path';
import { createSlots } from '../../../src/recognizers/in-chunks.ts';
import { createSherpaOnnx } from '../../../src/recognizers/sherpa-onnx/sherpa-onnx.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { expectSound } from '../../support/service/audit.ts';
import { final, hurryRetries, row, upload } from '../../support/service/jobs.ts';
import { childrenOf } from '../../rig/processes.ts';
import { useService } from '../../support/service/use-service.ts';
import { makeTinySenseVoice } from '../../support/models/tiny/sense-voice.ts';
import { speakTones } from '../../support/models/tiny/spoken-tones.ts';
import { until } from '../../support/until.ts';
import { useFolder } from '../../support/use-folder.ts';

const service = await useService();
const folder = useFolder();

beforeAll(async () => {
  const model = await makeTinySenseVoice(join(folder, 'model'));
  const recognizer = createSherpaOnnx({ folder: model, slots: createSlots(1) });
  // As at every start: a model that never ran would be the operator's fault, and cost no attempt.
  await recognizer.check();
  await service.work(recognizer);
});

test('every process of the recognizer killed, ten at the most → that session fails uncharged after its attempts, others complete', async () => {
  const { file, text } = await speakTones(folder, 'spoken', ['low', 'high']);
  const account = await makeAccount(service.db, { balanceMs: 60_000 });

  const before = await upload(service, account, file);
  const textOf = async ({ sessionId }: { sessionId: string }) =>
    (await final(service, account, sessionId)).segments.map((segment) => segment.text).join(' ');
  expect(await textOf(before)).toBe(text);

  const doomed = await upload(service, account, file);
  let kills = 0;
  const killOrEnd = async () => {
    // The first one is still there from the session before.
    for (const pid of childrenOf(process.pid, 'sherpa-onnx/child-main.ts')) {
      process.kill(pid, 'SIGKILL');
      kills += 1;
    }
    await hurryRetries(service);
    return row(service, account, doomed.sessionId);
  };
  const failed = await until(killOrEnd, ({ status }) => status === 'failed' || status === 'completed');
  expect(failed).toMatchObject({ status: 'failed', error_code: 'recognizer_error', reserved_ms: 0 });
  expect(kills).toBeGreaterThanOrEqual(3);

  const after = await upload(service, account, file);
  expect(await textOf(after)).toBe(text);
  await expectSound(service);
});
