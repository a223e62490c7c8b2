/**
 * `/docs` and `/llms.txt` show the contract to people, and to programs that read text. They are public, are no part of
 * the contract, and use nothing from other hosts.
 */
import { loadFiles } from './files.ts';
import { endAnswer } from '../answers/refusal.ts';
import { sendBody } from '../answers/body.ts';
import { matchesTag } from '../answers/negotiation.ts';
import { ApiError } from '../answers/problem.ts';
import type { Request, Response } from 'express';
import type { DocsFile } from './files.ts';

export class Docs {
  /** The files are loaded when somebody first opens the page. */
  #files: Promise<Map<string, DocsFile>> | undefined;
  readonly #load: () => ReturnType<typeof loadFiles>;

  serves(path: string): boolean {
    return path === '/docs' || path.startsWith('/docs/') || path === '/llms.txt';
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
    await send(req, res, file);
  }
}

async function send(req: Request, res: Response, { headers, body, etag }: DocsFile): Promise<void> {
  res.set({ ...headers, ETag: etag, Vary: 'Accept-Encoding' });
  if (matchesTag(req.headers['if-none-match'], etag)) endAnswer(req, res.status(304));
  else await sendBody(req, res, body);
}
