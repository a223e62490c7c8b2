/** What is served below `/docs`: the page and the files it needs, all of them our own. And `/llms.txt`. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { llmsText } from './llms.ts';
import { loadViewer } from './viewer.ts';

export interface DocsFile {
  headers: Record<string, string>;
  body: string;
  etag: string;
}

/**
 * @param publicPath what stands before their paths where browsers ask for them, and a proxy takes away
 * @returns the files by their path, kept in memory by the caller
 */
export async function loadFiles(publicPath: string): Promise<Map<string, DocsFile>> {
  const [viewer, start] = await Promise.all([
    loadViewer().then((text) => script('scalar', text)),
    readFile(new URL('start.js', import.meta.url), 'utf8').then((text) => script('start', text)),
  ]);
  const llms = fileOf(llmsText(publicPath), {
    'Content-Type': 'text/plain; charset=utf-8',
    'Cache-Control': 'no-cache',
  });
  const page = fileOf(pageWith(publicPath, start.path, viewer.path), {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policy,
    'Cache-Control': 'no-cache',
    'Referrer-Policy': 'no-referrer',
    // For browsers that do not know `frame-ancestors`.
    'X-Frame-Options': 'DENY',
  });
  return new Map([
    ['/docs', page],
    ['/docs/', page],
    ['/llms.txt', llms],
    [viewer.path, viewer.file],
    [start.path, start.file],
  ]);
}

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

/**
 * The empty icon keeps browsers from asking for `/favicon.ico`. The style hides the viewer's link to its maker, shows all
 * statuses and whole lines of the samples, and no frame around a section that a link led to: it takes the focus, but no typing.
 */
const pageWith = (base: string, start: string, viewer: string) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Transcription REST API</title>
    <link rel="icon" href="data:," />
    <style>
      a[href*='scalar.com'] {
        display: none;
      }
      .scalar-card-header-tabs .tab-list {
        flex-wrap: wrap;
      }
      .request-card {
        max-height: max(420px, 60vh) !important;
      }
      .code-snippet pre,
      .code-snippet code * {
        width: auto !important;
        white-space: pre-wrap !important;
        overflow-wrap: anywhere !important;
      }
      .code-snippet .line {
        --number: calc(var(--line-digits, 1) * 1ch + 0.875rem);
        display: block;
        padding-left: var(--number);
        text-indent: calc(-1 * var(--number));
      }
      .code-snippet .line * {
        text-indent: 0;
      }
      section[tabindex='-1']:focus-visible {
        outline: none !important;
      }
    </style>
    <script defer src="${base}${start}"></script>
    <script defer src="${base}${viewer}"></script>
  </head>
  <body>
    <div id="contract"></div>
    <noscript>This page needs JavaScript. The contract itself is at <a href="${base}/openapi.json">${base}/openapi.json</a>.</noscript>
  </body>
</html>
`;

/** The name changes with the content, so that browsers may keep it for good. */
function script(name: string, text: string): { path: string; file: DocsFile } {
  const file = fileOf(text, {
    'Content-Type': 'text/javascript; charset=utf-8',
    'Cache-Control': 'public, max-age=31536000, immutable',
    'Cross-Origin-Resource-Policy': 'same-origin',
  });
  return { path: `/docs/${name}-${hashOf(text)}.js`, file };
}

function fileOf(body: string, headers: DocsFile['headers']): DocsFile {
  // A weak tag, because it also stands for the compressed body.
  return { headers, body, etag: `W/"${hashOf(body)}"` };
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16);
