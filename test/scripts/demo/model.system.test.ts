/** `./scripts/quickstart --model NAME`: from nothing to a transcript by that model. */
import { speechClips } from '../../support/uploads/audio-fixtures.ts';
import { modelCommand } from '../model/model-command.ts';
import { runScript } from '../run-script.ts';
import type { ModelCommand } from '../model/model-command.ts';

let model: ModelCommand;
beforeEach(async () => void (model = await modelCommand()));
afterEach(() => model.close());

const quickstart = (args: string[]) => {
  const env = { PORT: '0', OPS_PORT: '0', MIN_FREE_DISK: '0', HOME: '/nonexistent', HF_ENDPOINT: model.hub.url };
  return runScript(['scripts/demo/main.ts', ...args], { ...env, DATA_DIR: model.dataDir });
};

test('--model → downloads it when it is missing, and the service recognizes with it', async () => {
  const { file } = (await speechClips())[1]!;
  const first = await quickstart(['--once', '--model', 'sense-voice', '--', file]);
  expect({ code: first.code, stderr: first.stderr }).toEqual({ code: 0, stderr: '' });
  expect(first.stdout).toMatch(
    /^Downloading sense-voice [^]*done\nStarting the service …[^]*\n\n {2}low high low [^]*\n/,
  );
  const asked = model.hub.requests.length;
  const second = await quickstart(['--once', '--model', 'sense-voice', '--', file]);
  expect(second.stdout).toMatch(/^Starting the service …[^]*\n\n {2}low high low /);
  expect(model.hub.requests).toHaveLength(asked);
});

test.each(['whisper-huge', 'diarization'])('--model %s → which there are, exit 2', async (name) => {
  const { code, stderr } = await quickstart(['--once', '--model', name, '--', 'any.wav']);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringMatching(`--model ${name}: expected one of moonshine-tiny, [^]*sense-voice\n$`),
  });
});

test('a download that fails → says why, starts nothing, exit 1', async () => {
  model.hub.trouble = { status: 500 };
  const { code, stdout, stderr } = await quickstart(['--once', '--model', 'sense-voice', '--', 'any.wav']);
  expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringMatching(/^Downloading .* …\n$/) });
  expect(stderr).toContain('Try again later');
});
