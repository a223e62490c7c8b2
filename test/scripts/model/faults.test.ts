/** What can go wrong on the way from the hub, each with what must not happen. */
import { until } from '../../support/until.ts';
import { modelCommand } from './model-command.ts';
import type { Trouble } from '../../support/models/model-hub.ts';
import type { ModelCommand } from './model-command.ts';

let model: ModelCommand;
beforeEach(async () => void (model = await modelCommand()));
afterEach(() => model.close());

const list = (...infos: unknown[]): Trouble => ({ metadata: infos });
const info = { type: 'file', path: 'model.int8.onnx', oid: 'a'.repeat(40), size: 5 };

test.each<[string, Trouble, string | RegExp]>([
  ['cuts the connection in the middle', { cut: { after: 8000, then: async () => {} } }, /fetched .*: type the same/],
  [
    'sends other bytes',
    { damaged: true },
    /SHA-256 is\n {2}[0-9a-f]{64} instead of\n {2}[0-9a-f]{64}\.\nIt was damaged/,
  ],
  ['does not stop', { endless: true }, 'sends more than it says'],
  ['answers 401', { status: 401 }, /with 401: .*set HF_TOKEN/],
  ['answers 404', { status: 404 }, /with 404: it is not there/],
  ['answers 429', { status: 429 }, /with 429: too many requests/],
  ['answers 500', { status: 500 }, /with 500: .*Try again later/],
  ['has no such file', list(), /has no file .* in csukuangfj/],
  ['gives no list', { metadata: {} }, 'Is HF_ENDPOINT right?'],
  ['gives a size that is none', list({ ...info, size: '5' }), 'Is HF_ENDPOINT right?'],
  ['gives another file', list({ ...info, path: 'other' }), 'Is HF_ENDPOINT right?'],
  ['gives no checksum', list({ ...info, oid: '../../evil' }), 'Is HF_ENDPOINT right?'],
])('a hub that %s → a sentence that says so, exit 1, nothing is left; then it is whole', async (_, trouble, said) => {
  model.hub.trouble = trouble;
  const { code, stdout, stderr } = await model.download();
  expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(said) });
  expect(stderr).not.toContain('    at ');
  await model.expectNothing();
  model.hub.trouble = {};
  expect((await model.download()).code).toBe(0);
  await model.expectWhole();
});

test('a small file is damaged → its Git checksum tells', async () => {
  model.hub.files['model.int8.onnx'] = Buffer.alloc(900, 'small');
  model.hub.trouble = { damaged: true };
  expect(await model.download()).toMatchObject({ code: 1, stderr: expect.stringContaining('its Git SHA-1 is') });
  await model.expectNothing();
});

test('nobody answers → says which variables there are, and the way without internet', async () => {
  await model.hub.close();
  expect(await model.download()).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/can not be reached \(.*ECONNREFUSED.*\)[^]*HTTPS_PROXY[^]*HF_ENDPOINT[^]*--from/),
  });
});

test('a disk that is too small → refused before anything is asked for', async () => {
  expect(await model.download({ MIN_FREE_DISK: '9007199254740991' })).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/MIN_FREE_DISK[^]*set DATA_DIR/),
  });
  expect(model.hub.requests).toEqual([]);
});

test('interrupted while the hub never answers → exit 130, nothing is left', async () => {
  model.hub.trouble = { silent: true };
  const running = model.start(['download', 'sense-voice']);
  await until(() => model.hub.requests.length > 0);
  running.interrupt();
  expect(await running.ended).toMatchObject({ code: 130, stderr: expect.stringMatching(/Nothing was installed\.\n$/) });
  await model.expectNothing();
});

test('two at once → the second waits for the first, and finds what it installed', async () => {
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
  model.hub.trouble = { pause: { after: 8000, until: held } };
  const first = model.start(['download', 'sense-voice']);
  await model.partHas(8000);
  const waiting = ['download', 'download', 'remove'].map((command) => model.start([command, 'sense-voice']));
  await Promise.all(
    waiting.map(({ says }) => says('Another command installs or removes sense-voice: waiting for it.')),
  );
  const [second, interrupted, removing] = waiting as [typeof first, typeof first, typeof first];
  for (const each of [interrupted, removing]) {
    each.interrupt();
    expect((await each.ended).code).toBe(130);
  }
  letGo();
  expect((await first.ended).code).toBe(0);
  expect(await second.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('is installed already') });
  await model.expectWhole();
});
