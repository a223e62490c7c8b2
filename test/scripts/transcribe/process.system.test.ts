/** `npm run transcribe` as the process that it is for people. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gate, says, ScriptedRecognizer } from '../../support/models/scripted-recognizer.ts';
import { useAccount, useService } from '../../support/service/use-service.ts';
import { tone } from '../../support/uploads/uploads.ts';
import { useFolder } from '../../support/use-folder.ts';
import { readByNobody, startScript } from '../run-script.ts';

const service = await useService();
const account = await useAccount(service);
const recording = join(useFolder(), 'talk.wav');
let held = gate();

beforeAll(async () => {
  await writeFile(recording, await tone(200));
  const recognizer = new ScriptedRecognizer(async ({ options }) => {
    await held.passed(options.signal);
    return says('hello world');
  });
  await service.work(recognizer);
});
beforeEach(() => {
  held = gate();
  held.open();
});

const transcribe = (args: string[], program?: string[]) => {
  const env = { TRANSCRIPTION_API_KEY: account.key };
  return startScript(['scripts/transcribe/main.ts', '--url', `${service.url}/v1`, ...args], env, program);
};

test('the transcript alone on standard output, how it goes on standard error, exit 0', async () => {
  expect(await transcribe([recording]).ended).toEqual({
    ...{ code: 0, stdout: 'hello world\n' },
    stderr: expect.stringMatching(
      /^Uploading talk\.wav [^]*\nTranscribing talk\.wav: done\ntalk\.wav: .* telephone, .*\n$/,
    ),
  });
});

test('Ctrl-C → says how to go on, exit 130', async () => {
  held = gate();
  const running = transcribe([recording]);
  await running.says('Transcribing talk.wav …');
  running.kill('SIGINT');
  expect(await running.ended).toMatchObject({ code: 130, stdout: '', stderr: expect.stringContaining('--session ') });
});

test('nobody reads the transcript (| head) → it ends without a word about that, exit 0', async () => {
  const { code, stderr } = await transcribe([recording], readByNobody).ended;
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: expect.stringMatching(/Transcribing talk\.wav: done\ntalk\.wav: .* telephone, .*\n$/),
  });
});
