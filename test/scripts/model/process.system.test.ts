/** `npm run model` as the process that it is for people. */
import { modelCommand } from './model-command.ts';
import { readByNobody } from '../run-script.ts';
import type { ModelCommand } from './model-command.ts';

let model: ModelCommand;
beforeEach(async () => void (model = await modelCommand()));
afterEach(() => model.close());

test('a download: what came is told on standard output, how it goes on standard error, exit 0', async () => {
  const { code, stdout, stderr } = await model.startProcess(['download', 'sense-voice']).ended;
  expect({ code, stdout, stderr }).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^sense-voice is installed in [^]*npm start\n$/),
    stderr: expect.stringMatching(/^Downloading [^]*done\n$/),
  });
});

test('what was typed wrong → exit 2', async () => {
  const { code, stdout, stderr } = await model.startProcess(['remove', 'whisper-huge']).ended;
  expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining('whisper-tiny') });
});

test.each(['SIGINT', 'SIGTERM'] as const)(
  '%s in the middle of a download → what came stays, exit 130',
  async (signal) => {
    model.hub.trouble = { cut: { after: 8000, then: () => new Promise(() => {}) } };
    const running = model.startProcess(['download', 'sense-voice']);
    await model.partHas(8000);
    running.kill(signal);
    expect(await running.ended).toMatchObject({ code: 130, stderr: expect.stringContaining('\nInterrupted. Type') });
    await model.partHas(8000);
  },
);

test('nobody reads what it writes (| head) → it ends without a word, exit 0', async () => {
  const { code, stderr } = await model.startProcess(['list'], {}, readByNobody).ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});
