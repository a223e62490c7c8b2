/** `npm run model` as the process that it is for people. */
import { modelCommand } from './model-command.ts';
import type { ModelCommand } from './model-command.ts';

let model: ModelCommand;
beforeEach(async () => void (model = await modelCommand()));
afterEach(() => model.close());

test.each(['SIGINT', 'SIGKILL'] as const)(
  '%s in the middle of a download → exit 130 and nothing is left, as far as it may still act; the next one is whole',
  async (signal) => {
    model.hub.trouble = { cut: { after: 8000, then: () => new Promise(() => {}) } };
    const running = model.startProcess(['download', 'sense-voice']);
    await model.partHas(8000);
    running.kill(signal);
    const { code, stderr } = await running.ended;
    expect(code).toBe(signal === 'SIGKILL' ? null : 130);
    if (signal !== 'SIGKILL') {
      expect(stderr).toContain('\nInterrupted.');
      await model.expectNothing();
    }
    model.hub.trouble = {};
    expect((await model.download()).code).toBe(0);
    await model.expectWhole();
  },
);
