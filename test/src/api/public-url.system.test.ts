/** Behind a proxy that serves it below a path: every address that the service tells leads back through the proxy. */
import { readFile } from 'node:fs/promises';
import { chromium } from 'playwright-core';
import { contractFile } from '../../../src/api/contract/document.ts';
import { runAdmin } from '../../scripts/admin/run-admin.ts';
import { startHelloServer } from '../../support/models/hello-server.ts';
import { giveBack, sendOn, serve } from '../../support/serve.ts';
import { useAccount, useService } from '../../support/service/use-service.ts';
import { tone } from '../../support/uploads/uploads.ts';

const proxy = await startPathProxy();
const service = await useService({ env: { PUBLIC_URL: `${proxy.url}/` } });
proxy.target = service.url;
const account = await useAccount(service);
const { origin, pathname } = new URL(proxy.url);

test('an upload → a Location that leads to its session; the contract is verbatim', async () => {
  const { headers } = await service.post('/v1/transcriptions', account.key).attach('file', await tone(500), 'tone.wav');
  expect(headers['location']).toMatch(/^\/speech\/v1\/sessions\/[0-9a-f-]{36}$/);
  const session = await fetch(`${origin}${headers['location']}`, {
    headers: { Authorization: `Bearer ${account.key}` },
  });
  expect(session.status).toBe(200);
  expect(await (await fetch(`${proxy.url}/openapi.json`)).text()).toBe(await readFile(contractFile, 'utf8'));
});

test('/llms.txt and / → lead through the proxy', async () => {
  expect((await fetch(`${proxy.url}/`, { redirect: 'manual' })).headers.get('location')).toBe('/speech/docs');
  const text = await (await fetch(`${proxy.url}/llms.txt`)).text();
  expect(text).toContain('All paths are below `/speech/v1` of this host.');
  const links = [...text.matchAll(/\]\((\/[^)]+)\)/g)].map(([, link]) => link!);
  expect(links).toEqual(['/speech/llms-full.txt', '/speech/openapi.json', '/speech/docs']);
  for (const link of links) expect((await fetch(`${origin}${link}`)).status).toBe(200);
});

test('/docs in a browser → it shows the contract, and sends its requests through the proxy', async () => {
  const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
  const browser = await chromium.launch({ executablePath, args: ['--headless', '--no-sandbox', '--disable-gpu'] });
  try {
    const page = await browser.newPage();
    const asked: string[] = [];
    page.on('request', (sent) => void asked.push(new URL(sent.url()).pathname));
    await page.goto(`${proxy.url}/docs/`);
    await page.getByPlaceholder('Token').first().fill(account.key);
    await page.getByRole('link', { name: 'List saved sessions' }).click();
    await page.getByRole('button', { name: 'Test Request (get /sessions)' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Send get request' }).click();
    await dialog.getByText('200 OK').waitFor();
    expect(asked.filter((path) => !path.startsWith(`${pathname}/`))).toEqual([]);
    expect(asked.at(-1)).toBe('/speech/v1/sessions');
  } finally {
    await browser.close();
  }
});

test('doctor → the proxy is well; one that refuses large bodies, and one that leads elsewhere, are wrong', async () => {
  const hello = await startHelloServer();
  const env = { DATABASE_URL: service.databaseUrl, DATA_DIR: service.dataDir, ...hello.env };
  const wrong = async (url: string) => {
    const { stdout } = await runAdmin(['doctor'], { ...env, PUBLIC_URL: url });
    return stdout.split('\n').filter((line) => /^(WRONG|ok) +proxy's/.test(line));
  };
  expect(await wrong(proxy.url)).toEqual([
    expect.stringMatching(/^ok +proxy's path +http.*\/speech leads to the service$/),
    expect.stringMatching(/^ok +proxy's bodies +an upload of 32 MiB gets through$/),
  ]);
  proxy.mostBytes = 1024 ** 2;
  expect((await wrong(proxy.url))[1]).toMatch(/^WRONG +proxy's bodies +an upload of 32 MiB was answered 413/);
  expect((await wrong(`${proxy.url}/elsewhere`))[0]).toMatch(/^WRONG +proxy's path .* answers 404/);
});

interface PathProxy {
  /** For PUBLIC_URL. */
  url: string;
  /** Where the service is. */
  target: string;
  /** Longer bodies get a page of HTML, as nginx answers them. */
  mostBytes: number;
}

/** A proxy that serves a service below a path of its own. */
async function startPathProxy(path = '/speech'): Promise<PathProxy> {
  const { url } = await serve(async (req, res) => {
    if (!req.url!.startsWith(`${path}/`)) return res.writeHead(404).end('another service');
    if (Number(req.headers['content-length'] ?? 0) > proxy.mostBytes)
      return res.writeHead(413, { 'Content-Type': 'text/html' }).end('<h1>413 Request Entity Too Large</h1>');
    const answer = await sendOn(req, `${proxy.target}${req.url!.slice(path.length)}`).catch(() => undefined);
    return answer === undefined ? res.destroy() : giveBack(answer, res);
  });
  const proxy: PathProxy = { url: `${url}${path}`, target: '', mostBytes: Infinity };
  return proxy;
}
