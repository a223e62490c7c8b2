/** What can go wrong on the way from the hub, each with what must not happen. */
import { existsSync } from 'node:fs';
import { until } from '../../support/until.ts';
import { modelCommand } from './model-command.ts';
import type { ModelCommand } from './model-command.ts';

let model: ModelCommand;
beforeEach(async () => void (model = await modelCommand()));
afterEach(() => model.close());

const download = (env?: NodeJS.ProcessEnv) => model.run(['download', 'sense-voice'], env);
const rangesOfStorage = () => model.hub.requests.filter(({ kind }) => kind === 'storage').map(({ range }) => range);
const isWhole = async () => {
  const sizes = Object.fromEntries(Object.entries(model.files).map(([name, bytes]) => [name, bytes.length]));
  expect(await model.below(model.folder)).toEqual(sizes);
};
const cutAt = (after: number) => {
  const then = async () => {
    await model.partHas(after);
    model.hub.trouble = {};
  };
  model.hub.trouble = { cut: { after, then } };
};

test('the connection is cut in the middle → the rest is asked for, and it ends whole', async () => {
  cutAt(8000);
  const { code, stderr } = await download();
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('The connection broke. Going on') });
  expect(rangesOfStorage()).toEqual([undefined, `bytes=8000-${lastByte()}`]);
  await isWhole();
});

const lastByte = () => String(model.files['model.int8.onnx']!.length - 1);

test('interrupted → exit 130, what came stays; the next one asks for the rest only', async () => {
  const never = new Promise(() => {});
  model.hub.trouble = { cut: { after: 8000, then: () => never } };
  const running = model.start(['download', 'sense-voice']);
  await model.partHas(8000);
  running.interrupt();
  const { code, stderr } = await running.ended;
  expect({ code, stderr }).toEqual({
    code: 130,
    stderr: expect.stringMatching(/where it ended, with --from it begins anew\.\n$/),
  });
  expect(existsSync(model.folder)).toBe(false);

  model.hub.trouble = {};
  const second = await download();
  expect({ code: second.code, stderr: second.stderr }).toEqual({
    code: 0,
    stderr: expect.stringMatching(/^Going on: 8\.0 kB of sense-voice are here already\./),
  });
  expect(rangesOfStorage()).toEqual([undefined, `bytes=8000-${lastByte()}`]);
  await isWhole();
});

test('interrupted while the hub never answers → ends', async () => {
  model.hub.trouble = { silent: true };
  const running = model.start(['download', 'sense-voice']);
  await until(() => model.hub.requests.length > 0);
  running.interrupt();
  expect((await running.ended).code).toBe(130);
});

async function interruptedAt(bytes: number): Promise<void> {
  model.hub.trouble = { cut: { after: bytes, then: () => new Promise(() => {}) } };
  const running = model.start(['download', 'sense-voice']);
  await model.partHas(bytes);
  running.interrupt();
  await running.ended;
  model.hub.trouble = {};
  model.hub.requests.length = 0;
}

test('the file on the hub changed since → begins anew', async () => {
  await interruptedAt(8000);
  const changed = Buffer.concat([Buffer.from('new'), model.files['model.int8.onnx']!]);
  model.hub.files['model.int8.onnx'] = model.files['model.int8.onnx'] = changed;
  expect((await download()).code).toBe(0);
  expect(rangesOfStorage()).toEqual([undefined]);
  await isWhole();
});

test('a server that knows no ranges → begins anew instead of joining what does not belong together', async () => {
  await interruptedAt(8000);
  model.hub.trouble = { ignoresRanges: true };
  const { code, stderr } = await download();
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('begins anew') });
  await isWhole();
});

test('a server that knows no ranges and breaks at the same place each time → begins anew once, then is refused', async () => {
  model.hub.trouble = { ignoresRanges: true, cut: { after: 8000, then: () => model.partHas(8000) } };
  const { code, stderr } = await download();
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/does not send the rest[^]*HF_ENDPOINT/) });
  expect(stderr.match(/begins anew/g)).toHaveLength(1);
  expect(existsSync(model.folder)).toBe(false);
});

test('an answer that is not the part that was asked for → its connection is let go', async () => {
  const gone = Promise.withResolvers<void>();
  const thens = [
    () => model.partHas(8000),
    (left: Promise<unknown>) => left.then(() => gone.resolve()),
    async () => {
      await gone.promise;
      // Else it would be cut before any byte is there, and that is refused.
      await model.partHas(8000);
      model.hub.trouble = {};
    },
  ];
  model.hub.trouble = { ignoresRanges: true, cut: { after: 8000, then: async (left) => thens.shift()?.(left) } };
  expect((await download()).code).toBe(0);
  await isWhole();
});

test('damaged bytes, or a mirror with others → both checksums are named, nothing is installed; the next run is whole', async () => {
  model.hub.trouble = { damaged: true };
  const { code, stdout, stderr } = await download();
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/SHA-256 is\n {2}[0-9a-f]{64} instead of\n {2}[0-9a-f]{64}\.\nNothing was installed/);
  expect(existsSync(model.folder)).toBe(false);
  model.hub.trouble = {};
  expect((await download()).code).toBe(0);
  await isWhole();
});

test('a small file is damaged → its Git checksum tells', async () => {
  model.hub.files['model.int8.onnx'] = model.files['model.int8.onnx'] = Buffer.alloc(900, 'small');
  model.hub.trouble = { damaged: true };
  const { code, stderr } = await download();
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('its Git SHA-1 is') });
  expect(existsSync(model.folder)).toBe(false);
});

test('a server that does not stop → refused, and the disk is not filled', async () => {
  model.hub.trouble = { endless: true };
  const { code, stderr } = await download();
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('sends more than the hub says') });
  const sizes = Object.values(await model.below(`${model.folder}.partial`));
  expect(Math.max(...sizes)).toBeLessThanOrEqual(model.files['model.int8.onnx']!.length);
});

test.each([
  [401, 'set HF_TOKEN'],
  [403, 'set HF_TOKEN'],
  [404, 'it is not there'],
  [429, 'too many requests'],
  [500, 'Try again later'],
])('the hub answers %i → a sentence that says what to do, exit 1', async (status, said) => {
  model.hub.trouble = { status };
  const { code, stdout, stderr } = await download();
  expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining(said) });
  expect(stderr).toContain(`with ${status}: `);
  expect(stderr).not.toContain('    at ');
});

test('a file that the hub has not → named, exit 1', async () => {
  delete model.hub.files['tokens.txt'];
  const { code, stderr } = await download();
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/has no file tokens\.txt in csukuangfj/) });
});

test.each([
  ['no list', {}],
  ['a list of nothing', [null]],
  ['a size that is none', [{ type: 'file', path: 'model.int8.onnx', oid: 'a'.repeat(40), size: '5' }]],
  ['another file', [{ type: 'file', path: 'other', oid: 'a'.repeat(40), size: 5 }]],
  ['no size', [{ type: 'file', path: 'model.int8.onnx', oid: 'a'.repeat(40) }]],
  ['no checksum', [{ type: 'file', path: 'model.int8.onnx', oid: '../../evil', size: 5 }]],
])('metadata with %s → it is no hub, exit 1', async (_, metadata) => {
  model.hub.trouble = { metadata };
  const { code, stderr } = await download();
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('Is HF_ENDPOINT right?') });
});

test('nobody answers → says which variables there are, and the way without internet', async () => {
  await model.hub.close();
  const { code, stderr } = await download();
  expect(code).toBe(1);
  expect(stderr).toMatch(/can not be reached \(.*ECONNREFUSED.*\)[^]*HTTPS_PROXY[^]*HF_ENDPOINT[^]*--from/);
});

test('a disk that is too small → refused before anything is fetched', async () => {
  const { code, stderr } = await download({ MIN_FREE_DISK: '9007199254740991' });
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/MIN_FREE_DISK[^]*set DATA_DIR/) });
  expect(model.hub.requests.every(({ kind }) => kind === 'paths-info')).toBe(true);
});

test('two at once → one of them says so and ends, the other is not disturbed', async () => {
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
  model.hub.trouble = { cut: { after: 8000, then: () => held } };
  const first = model.start(['download', 'sense-voice']);
  await model.partHas(8000);
  for (const command of ['download', 'remove']) {
    const { code, stderr } = await model.run([command, 'sense-voice']);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('Another command') });
  }
  model.hub.trouble = {};
  letGo();
  expect((await first.ended).code).toBe(0);
  await isWhole();
});
