/** The Hugging Face hub or a mirror of it. The environment variables are those of the hub's own tools. */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fetch } from 'undici';
import { ConfigError } from '../../src/config/config.ts';
import { proxyProblem, proxiesOf } from '../../src/config/variables.ts';
import { throughProxies } from '../../src/recognizers/proxies.ts';
import { Refusal } from '../terminal/refusal.ts';
import { briefly } from '../terminal/text.ts';
import { compareChecksums } from './install.ts';
import type { HubFile, HubModel } from '../../src/recognizers/sherpa-onnx/known-models.ts';
import type { Installation } from './install.ts';

/** Asks for what is below the hub's address. Rejects with a {@link Refusal} when the answer is no success. */
type AskHub = (path: string, question?: object) => Promise<Response>;

interface Hub {
  /** Without a slash at its end. */
  url: string;
  ask: AskHub;
}

/** A file as the hub describes it. */
interface HostedFile extends HubFile {
  bytes: number;
  /** Hexadecimal: SHA-256 of a large file (Git LFS), the name of the Git object of a small one. */
  checksum: string;
}

/**
 * Downloads the files of a model at their commits. A plain request for each: the hub's own client compares no checksums,
 * wants headers that mirrors leave out, and takes no token of a mirror.
 * @throws {Refusal}
 * @throws {ConfigError}
 */
export async function downloadModel(
  model: HubModel,
  folder: string,
  { env, signal }: Pick<Installation, 'env' | 'signal'>,
  reach: (bytes: number) => void,
): Promise<void> {
  const hub = connectToHub(env, signal);
  const files = await Promise.all(model.files.map((file) => describe(hub, file)));
  let before = 0;
  for (const file of files) {
    const from = before;
    await downloadFile(hub, file, join(folder, file.name), (bytes) => reach(from + bytes));
    before += file.bytes;
  }
}

async function downloadFile(hub: Hub, file: HostedFile, to: string, reach: (bytes: number) => void): Promise<void> {
  const { repo, revision, path, bytes, checksum } = file;
  const { body } = await hub.ask(`/${repo}/resolve/${revision}/${path}`);
  const isLarge = checksum.length === 64;
  const hash = createHash(isLarge ? 'sha256' : 'sha1');
  // https://git-scm.com/book/en/v2/Git-Internals-Git-Objects
  if (!isLarge) hash.update(`blob ${bytes}\0`);
  let have = 0;
  const passOn = async function* (chunks: AsyncIterable<Uint8Array>) {
    for await (const chunk of chunks) {
      have += chunk.length;
      // Otherwise a server that does not stop would fill the disk.
      if (have > bytes) throw new Refusal(`${hub.url} sends more than it says ${path} has. Nothing was installed.`);
      hash.update(chunk);
      reach(have);
      yield chunk;
    }
  };
  await pipeline(body!, passOn, createWriteStream(to)).catch((error: NodeJS.ErrnoException) => {
    if (error instanceof Refusal || error.code === 'ENOSPC') throw error;
    throw new Refusal(
      `${path} can not be fetched from ${hub.url} (${briefly(error)}). Nothing was installed: type the same again.`,
    );
  });
  compareChecksums(path, isLarge ? 'SHA-256' : 'Git SHA-1', hash.digest('hex'), checksum);
}

const silenceLimitMs = 60_000;

/**
 * Reads `HF_ENDPOINT` (a mirror), `HF_TOKEN`, and `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` in either case.
 * @param signal ends what is asked of it
 * @throws {ConfigError}
 */
function connectToHub(env: NodeJS.ProcessEnv, signal: AbortSignal): Hub {
  const url = (env['HF_ENDPOINT']?.trim() || 'https://huggingface.co').replace(/\/+$/, '');
  if (!isWebAddress(url)) {
    // The value is not shown, because it may contain a password.
    throw new ConfigError([
      'HF_ENDPOINT: expected the address of a mirror, such as https://hf.example.com, without a user',
    ]);
  }
  const proxies = proxiesOf(env);
  const fault = proxyProblem(proxies);
  if (fault !== undefined) throw new ConfigError([fault]);
  const token = env['HF_TOKEN']?.trim();
  // undici 7 instead of Node's own fetch, which uses HTTP/2 and then gets only a few MB/s over long distances.
  const dispatcher = throughProxies(proxies, { headersTimeout: silenceLimitMs, bodyTimeout: silenceLimitMs });
  // fetch removes the token when a redirect leads to another host.
  const authorization = token ? { Authorization: `Bearer ${token}` } : {};
  return {
    url,
    async ask(path, question) {
      const json = question && {
        method: 'POST',
        headers: { ...authorization, 'Content-Type': 'application/json' },
        body: JSON.stringify(question),
      };
      const answer = await fetch(url + path, { headers: authorization, ...json, dispatcher, signal }).catch(
        (cause: unknown) => {
          throw unreachable(new URL(url).origin, cause);
        },
      );
      if (answer.ok) return answer as unknown as Response;
      await answer.body?.cancel();
      throw new Refusal(`${url}${path} was answered with ${answer.status}: ${reasonOf(answer.status, Boolean(token))}`);
    },
  };
}

function isWebAddress(text: string): boolean {
  const { protocol, username } = URL.canParse(text) ? new URL(text) : { protocol: '', username: '' };
  return /^https?:$/.test(protocol) && username === '';
}

/** Asks for size and checksum: https://huggingface.co/docs/hub/api, `POST /api/models/{repo_id}/paths-info/{revision}` */
async function describe({ url, ask }: Hub, file: HubFile): Promise<HostedFile> {
  const { repo, revision, path } = file;
  const answer = await ask(`/api/models/${repo}/paths-info/${revision}`, { paths: [path] });
  const infos = (await answer.json().catch(() => undefined)) as Partial<PathInfo>[] | undefined;
  if (infos?.length === 0) throw new Refusal(`${url} has no file ${path} in ${repo} (${revision.slice(0, 8)}).`);
  const { path: name, size: bytes = 0, oid, lfs } = infos?.[0] ?? {};
  const checksum = String(lfs?.oid ?? oid);
  const isSize = Number.isSafeInteger(bytes) && bytes > 0;
  if (name === path && isSize && /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(checksum)) return { ...file, bytes, checksum };
  throw new Refusal(`${url} does not answer as the Hugging Face hub does. Is HF_ENDPOINT right?`);
}

interface PathInfo {
  path: string;
  size: number;
  oid: string;
  lfs: { oid: string };
}

function reasonOf(status: number, hasToken: boolean): string {
  if (status === 401 || status === 403) {
    return hasToken
      ? 'HF_TOKEN does not open it. Is it still valid, and were the terms of the model accepted with its account?'
      : 'it is not there, or needs a token. If you have one, set HF_TOKEN.';
  }
  if (status === 404) return 'it is not there. A mirror (HF_ENDPOINT) may lack it.';
  if (status === 429) return 'too many requests. Wait a while, or set HF_TOKEN.';
  if (status >= 500) return 'the server is in trouble. Try again later.';
  return 'this was not expected. Is HF_ENDPOINT right?';
}

/** No answer: there is no network, or a proxy is missing in the environment or blocks the request. */
const unreachable = (origin: string, cause: unknown): Refusal =>
  new Refusal(`${origin} can not be reached (${briefly(cause)}).
Behind a proxy, set HTTPS_PROXY; for a mirror, HF_ENDPOINT.
Without internet: npm run model -- download NAME --from FOLDER`);
