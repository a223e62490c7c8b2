/** Proxies and tokens: who gets to see what. */
import { giveBack, sendOn, serve } from '../../support/serve.ts';
import { modelCommand } from './model-command.ts';
import type { ModelCommand } from './model-command.ts';

interface Proxy {
  url: string;
  /** Methods and targets. */
  asked: string[];
  authorizations: (string | undefined)[];
}

/** Hands on requests for http, whatever the host, to this machine, and lets nobody through to https. */
async function startProxy(): Promise<Proxy> {
  const proxy: Proxy = { url: '', asked: [], authorizations: [] };
  const { url, server } = await serve(async (request, response) => {
    proxy.asked.push(`${request.method} ${request.url}`);
    proxy.authorizations.push(request.headers['proxy-authorization']);
    const answer = await sendOn(request, request.url!.replace(elsewhere, '127.0.0.1')).catch(() => undefined);
    if (answer === undefined) return response.destroy();
    if (answer.headers.location !== undefined)
      answer.headers.location = answer.headers.location.replace('127.0.0.1', elsewhere);
    return giveBack(answer, response);
  });
  server.on('connect', (request, socket) => {
    proxy.asked.push(`CONNECT ${request.url}`);
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  return Object.assign(proxy, { url });
}

/** No proxy is asked for this machine, where the hub of the tests is. */
const elsewhere = 'hub.invalid';
const mirror = () => model.hub.url.replace('127.0.0.1', elsewhere);

let model: ModelCommand;
let proxy: Proxy;
beforeEach(async () => {
  model = await modelCommand();
  proxy = await startProxy();
});
afterEach(() => model.close());

test.each(['HTTP_PROXY', 'http_proxy'])(
  '%s with user and password → metadata and files go through it, and they are sent to it, not to the hub',
  async (name) => {
    const env = { [name]: proxy.url.replace('//', '//user:secret@'), HF_ENDPOINT: mirror() };
    expect((await model.download(env)).code).toBe(0);
    expect(proxy.asked).toHaveLength(model.hub.requests.length);
    expect(proxy.asked.filter((line) => line.startsWith(`POST ${mirror()}/api/models/`))).toHaveLength(2);
    expect(proxy.asked.filter((line) => /^GET .*\/blobs\/model\.int8\.onnx$/.test(line))).toHaveLength(1);
    expect(new Set(proxy.authorizations)).toEqual(new Set([`Basic ${btoa('user:secret')}`]));
    expect(model.hub.requests.every(({ authorization }) => authorization === undefined)).toBe(true);
  },
);

test('HTTPS_PROXY → a tunnel to the hub is asked of it; refused → says so', async () => {
  const env = { HTTPS_PROXY: proxy.url, HF_ENDPOINT: 'https://hub.invalid' };
  const { code, stderr } = await model.download(env);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/\nhttps:\/\/hub\.invalid can not be reached/),
  });
  expect(new Set(proxy.asked)).toEqual(new Set(['CONNECT hub.invalid:443']));
});

test('NO_PROXY names the mirror → it is asked directly', async () => {
  const env = { HTTP_PROXY: proxy.url, NO_PROXY: `other.example,${elsewhere}`, HF_ENDPOINT: mirror() };
  const { code, stderr } = await model.download(env);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/hub\.invalid:\d+ can not be reached/) });
  expect(proxy.asked).toEqual([]);
});

test('a mirror on this machine → it is asked directly', async () => {
  expect((await model.download({ HTTP_PROXY: proxy.url })).code).toBe(0);
  expect(proxy.asked).toEqual([]);
});

test('HF_TOKEN, of a mirror too → sent to the hub, not to the storage that it leads to', async () => {
  expect((await model.download({ HF_TOKEN: 'of-a-mirror' })).code).toBe(0);
  const tokens = (kind: string) =>
    new Set(model.hub.requests.filter((request) => request.kind === kind).map(({ authorization }) => authorization));
  expect(tokens('paths-info')).toEqual(new Set(['Bearer of-a-mirror']));
  expect(tokens('resolve')).toEqual(new Set(['Bearer of-a-mirror']));
  expect(tokens('storage')).toEqual(new Set([undefined]));
});

test('HF_TOKEN that does not open it → says so, without the token', async () => {
  model.hub.trouble = { status: 403 };
  const { code, stderr } = await model.download({ HF_TOKEN: 'hf_secret' });
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('HF_TOKEN does not open it') });
  expect(stderr).not.toContain('hf_secret');
});
