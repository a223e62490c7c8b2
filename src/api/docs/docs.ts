/**
 * The contract for people (`/docs`, to which `/` redirects) and for language models (llmstxt.org: `/llms.txt` is an index,
 * `/llms-full.txt` the whole). They are public, are no part of the contract, and use nothing from other hosts. The viewer is Scalar's (MIT), as its makers built it for browsers:
 * `scalar.js` is `dist/browser/standalone.js` of the npm package `@scalar/api-reference` 1.72.1 without its last line, which
 * names a source map. The package itself would bring 299 others.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { contract } from '../contract/document.ts';
import { endAnswer } from '../answers/refusal.ts';
import { sendBody } from '../answers/reply.ts';
import { matchesTag } from '../answers/negotiation.ts';
import { ApiError } from '../answers/problem.ts';
import type { Request } from 'express';
import type { Response } from '../response.ts';

type DocsFile = ReturnType<typeof fileOf>;

export class Docs {
  /** By their path, in memory. Loaded on first use. */
  #files: Promise<Map<string, DocsFile>> | undefined;
  readonly #load: () => ReturnType<typeof loadFiles>;

  serves(path: string): boolean {
    return path === '/' || path === '/docs' || path.startsWith('/docs/') || /^\/llms(-full)?\.txt$/.test(path);
  }

  /** @param load loads the files; called again when it failed before */
  constructor(load: () => ReturnType<typeof loadFiles>) {
    this.#load = load;
  }

  /** @throws ApiError 404 and 405 */
  async answer(req: Request, res: Response): Promise<void> {
    this.#files ??= this.#load().catch((error: unknown) => {
      this.#files = undefined;
      throw error;
    });
    // A file is found by its whole path, in memory. No path leads to the file system.
    const file = (await this.#files).get(req.path);
    if (file === undefined) throw new ApiError(404, 'route_not_found', 'There is nothing at this path.');
    if (req.method !== 'GET' && req.method !== 'HEAD')
      throw new ApiError(405, 'method_not_allowed', 'This path allows GET, HEAD.', {}, { Allow: 'GET, HEAD' });
    res.set({ ...file.headers, ETag: file.etag });
    // CORS may have said `Vary: Origin` already.
    res.vary('Accept-Encoding');
    if (file.headers['Location'] !== undefined) endAnswer(req, res.status(302));
    else if (matchesTag(req.headers['if-none-match'], file.etag)) endAnswer(req, res.status(304));
    else await sendBody(req, res, file.body);
  }
}

/** @param publicPath what stands before their paths where browsers ask for them, and a proxy takes away */
export async function loadFiles(publicPath: string): Promise<Map<string, DocsFile>> {
  const [html, start, viewer] = await Promise.all(['page.html', 'start.js', 'scalar.js'].map(readHere));
  const scripts = { start: script('start', start!), viewer: script('scalar', viewer!) };
  const text = html!
    .replaceAll('{base}', publicPath)
    .replace('{start}', publicPath + scripts.start.path)
    .replace('{viewer}', publicPath + scripts.viewer.path);
  const page = fileOf(text, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policy,
    'Cache-Control': 'no-cache',
    'Referrer-Policy': 'no-referrer',
    // For browsers that do not know `frame-ancestors`.
    'X-Frame-Options': 'DENY',
  });
  const plain = { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-cache' };
  return new Map([
    ['/', fileOf('', { Location: `${publicPath}/docs`, 'Cache-Control': 'no-cache' })],
    ['/docs', page],
    ['/docs/', page],
    ['/llms.txt', fileOf(indexText(publicPath), plain)],
    ['/llms-full.txt', fileOf(await readHere('../../../openapi.yaml'), plain)],
    [scripts.viewer.path, scripts.viewer.file],
    [scripts.start.path, scripts.start.file],
  ]);
}

/** @param publicPath what stands before every path of the service */
function indexText(publicPath: string): string {
  const { info, servers, paths } = contract as unknown as {
    info: { title: string; description: string };
    servers: [{ url: string }];
    paths: Record<string, Record<string, { summary: string }>>;
  };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { summary }]) => `- \`${method.toUpperCase()} ${path}\`: ${summary}`),
  );
  const [summary, course] = info.description.split('\n\n');
  return `# ${info.title}

> ${summary}

${course}

All paths are below \`${publicPath}${servers[0].url}\` of this host.

## Contract

- [Everything as text](${publicPath}/llms-full.txt): the OpenAPI document as it was written, with samples
- [OpenAPI document](${publicPath}/openapi.json): the same for generators
- [Documentation](${publicPath}/docs): the same for people

## Operations

${operations.join('\n')}
`;
}

const readHere = (name: string) => readFile(new URL(name, import.meta.url), 'utf8');

/**
 * Allows our own files only, and requests to this service only. So neither an injected script nor a fault of the viewer
 * can send a pasted key elsewhere.
 *
 * `'unsafe-inline'` for styles: the viewer, its editor and its messages add `<style>` elements, and most of these can't
 * have a nonce. Styles alone can send nothing away, because images, fonts and connections are limited to this origin.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** The name changes with the content, so that browsers may keep it for good. */
function script(name: string, text: string): { path: string; file: DocsFile } {
  const file = fileOf(text, {
    'Content-Type': 'text/javascript; charset=utf-8',
    'Cache-Control': 'public, max-age=31536000, immutable',
    'Cross-Origin-Resource-Policy': 'same-origin',
  });
  return { path: `/docs/${name}-${hashOf(text)}.js`, file };
}

function fileOf(body: string, headers: Record<string, string>) {
  // A weak tag, because it also stands for the compressed body.
  return { headers, body, etag: `W/"${hashOf(body)}"` };
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16);
