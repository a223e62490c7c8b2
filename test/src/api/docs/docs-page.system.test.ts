/** `/docs` as people use it, in a real browser (Debian's Chromium; another one is named by `CHROMIUM`). */
import { chromium } from 'playwright-core';
import { atEnd } from '../../../support/at-end.ts';
import { useAccount, useService } from '../../../support/service/use-service.ts';
import { makeSession } from '../../../support/service/sessions.ts';
import { tone } from '../../../support/uploads/uploads.ts';
import type { Browser, Locator, Page } from 'playwright-core';

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const args = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
];
const summaries = [
  ...['List saved sessions', 'Read one session', 'Read the transcript of a session'],
  ...['Upload audio and queue its transcription', 'Download this contract'],
];

const service = await useService();
const account = await useAccount(service);
let browser: Browser;
let page: Page;
/** Requests to anyone else, messages of the console, and breaches of the page's policy. */
const faults: string[] = [];
/** Requests to the service, as `GET /docs`, with the key that they carried. */
const requests: { line: string; key: string | undefined }[] = [];
beforeAll(async () => {
  // Playwright starts it with a new, empty profile and removes that in the end.
  browser = await chromium.launch({ executablePath, args });
  atEnd(() => browser.close());
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  await context.route('**/*', async (route) => {
    const { origin, pathname } = new URL(route.request().url());
    if (origin === service.url) {
      const key = route.request().headers().authorization;
      requests.push({ line: `${route.request().method()} ${pathname}`, key });
      return route.continue();
    }
    faults.push(`a request to ${route.request().url()}`);
    return route.abort();
  });
  await context.exposeFunction('reportBreach', (breach: string) => void faults.push(`policy: ${breach}`));
  await context.addInitScript(`addEventListener('securitypolicyviolation', (event) => {
    reportBreach(event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample);
  })`);
  page = await context.newPage();
  page.on('websocket', (socket) => faults.push(`a socket to ${socket.url()}`));
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) faults.push(`console: ${message.text()}`);
  });
  await page.goto(`${service.url}/docs`);
});
afterEach(async () => {
  await page.keyboard.press('Escape');
  expect(faults.splice(0)).toEqual([]);
});

const heading = (name: string) => page.getByRole('heading', { name, exact: true });
const token = () => page.getByPlaceholder('Token').first();

/** Pastes the key and opens the form of an operation, from its entry in the sidebar. */
async function tryOut(summary: string, operation: string): Promise<Locator> {
  await token().fill(account.key);
  await page.getByRole('link', { name: summary }).click();
  await page.getByRole('button', { name: `Test Request (${operation})` }).click();
  return page.getByRole('dialog');
}

test('the page → all five operations, from our own files alone', async () => {
  for (const summary of summaries) {
    await page.getByRole('link', { name: summary }).click();
    await heading(summary).waitFor();
  }
  await expect(page.title()).resolves.toContain('Transcription REST API');
  expect(requests.map(({ line }) => line.replace(/-[0-9a-f]{16}/, ''))).toEqual([
    ...['GET /docs', 'GET /docs/start.js', 'GET /docs/scalar.js', 'GET /openapi.json'],
  ]);
  const links = await page.locator('a[href^="http"]:visible').evaluateAll((all) => all.map(String));
  expect(links.filter((link) => link.includes('scalar.com'))).toEqual([]);
});

test('a pasted key → the list of its sessions', async () => {
  await makeSession(service.db, account.id, { title: 'Budget of the year' });
  const dialog = await tryOut('List saved sessions', 'get /sessions');
  await dialog.getByRole('button', { name: 'Send get request' }).click();
  await dialog.getByText('200 OK').waitFor();
  await dialog.getByText('Budget of the year').waitFor();

  expect(requests.at(-1)).toEqual({ line: 'GET /v1/sessions', key: `Bearer ${account.key}` });
  const seen = service.logLines.filter((line) => line.includes('listSessions') && line.includes(account.id));
  expect(seen.map((line) => (JSON.parse(line) as { status: number }).status)).toEqual([200]);
});

test('a file chosen → an upload that is accepted', async () => {
  const dialog = await tryOut('Upload audio and queue its transcription', 'post /transcriptions');
  const choosing = page.waitForEvent('filechooser');
  await dialog.getByRole('button', { name: 'Select File' }).first().click();
  await (await choosing).setFiles({ name: 'Tone.wav', mimeType: 'audio/wav', buffer: await tone(1_500) });
  await dialog.getByRole('button', { name: 'Send post request' }).click();
  await dialog.getByText('202 Accepted').waitFor();
  const { body } = await service.get('/v1/sessions', account.key).expect(200);
  expect(body).toMatchObject({ items: expect.arrayContaining([expect.objectContaining({ title: 'Tone' })]) });
});

test('the page loaded again → the key is gone, and was never stored', async () => {
  await token().fill(account.key);
  const stored = await page.evaluate('JSON.stringify([localStorage, sessionStorage, document.cookie])');
  expect(stored).not.toContain(account.key);
  expect(await page.evaluate('indexedDB.databases()')).toEqual([]);
  await page.reload();
  expect(await token().inputValue()).toBe('');
});
