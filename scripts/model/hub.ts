/** The Hugging Face hub or a mirror of it. The environment variables are those of the hub's own tools. */
import { pathsInfo } from '@huggingface/hub';
import { fetch as fetchByHttp1 } from 'undici';
import { ConfigError } from '../../src/config/config.ts';
import { faultOf, proxiesOf } from '../../src/config/values.ts';
import { throughProxies } from '../../src/recognizers/proxies.ts';
import { Refusal } from '../terminal/refusal.ts';
import { HubRefusal, unreachable } from './hub-refusal.ts';
import type { HubFile, HubModel } from '../../src/recognizers/sherpa-onnx/known-models.ts';
import type { Checksum } from './checksum.ts';

export interface Hub {
  /** Without a slash at its end. */
  url: string;
  /** For the hub's client. Rejects with a {@link Refusal} when the answer is no success. */
  fetch: typeof fetch;
}

/** A file as the hub describes it. */
export interface HostedFile extends HubFile {
  bytes: number;
  checksum: Checksum;
}

const silenceLimitMs = 60_000;

/**
 * Reads `HF_ENDPOINT` (a mirror), `HF_TOKEN`, and `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` in either case.
 * @param signal ends what is asked of it
 * @throws {ConfigError}
 */
export function connectToHub(env: NodeJS.ProcessEnv, signal: AbortSignal): Hub {
  const url = (env['HF_ENDPOINT']?.trim() || 'https://huggingface.co').replace(/\/+$/, '');
  if (!isWebAddress(url)) {
    // The value is not shown, because it may contain a password.
    throw new ConfigError([
      'HF_ENDPOINT: expected the address of a mirror, such as https://hf.example.com, without a user',
    ]);
  }
  const proxies = proxiesOf(env);
  const fault = faultOf(proxies);
  if (fault !== undefined) throw new ConfigError([fault]);
  const token = env['HF_TOKEN']?.trim();
  // undici 7 instead of Node's own fetch, which uses HTTP/2 and then gets only a few MB/s over long distances, as the
  // hub's client notes.
  const dispatcher = throughProxies(proxies, { headersTimeout: silenceLimitMs, bodyTimeout: silenceLimitMs });

  const ask: typeof fetch = async (input, init) => {
    const target = new URL(input instanceof Request ? input.url : input);
    const headers = new Headers(init?.headers);
    // Without compression: a later part must begin at the byte where the last one ended.
    headers.set('Accept-Encoding', 'identity');
    // The client accepts only the hub's own tokens, so the header is set here. fetch removes it when a redirect leads
    // to another host.
    if (token) headers.set('Authorization', `Bearer ${token}`);
    const request = { ...init, headers, dispatcher, signal } as Parameters<typeof fetchByHttp1>[1];
    const answer = await fetchByHttp1(target, request).catch((cause: unknown) => {
      throw signal.aborted ? signal.reason : unreachable(target.origin, cause);
    });
    if (answer.ok) return answer as unknown as Response;
    await answer.body?.cancel();
    throw new HubRefusal(target, answer.status, Boolean(token));
  };
  return { url, fetch: ask };
}

function isWebAddress(text: string): boolean {
  const { protocol, username } = URL.canParse(text) ? new URL(text) : { protocol: '', username: '' };
  return /^https?:$/.test(protocol) && username === '';
}

/**
 * Asks the hub for size and checksum of every file of a model.
 * @throws {Refusal}
 */
export async function describeFiles(hub: Hub, model: HubModel): Promise<HostedFile[]> {
  return Promise.all(model.files.map((file) => describe(hub, file)));
}

async function describe(hub: Hub, file: HubFile): Promise<HostedFile> {
  const { repo, revision, path } = file;
  const question = { repo, revision, paths: [path], hubUrl: hub.url, fetch: hub.fetch };
  const [found] = await pathsInfo(question).catch((error: Error) => {
    // The client throws other errors for an answer that it doesn't understand.
    throw error instanceof Refusal || error.name === 'AbortError' ? error : noHub(hub);
  });
  if (found === undefined) throw new Refusal(`${hub.url} has no file ${path} in ${repo} (${revision.slice(0, 8)}).`);
  const checksum: Checksum = found.lfs
    ? { algorithm: 'SHA-256', value: found.lfs.oid }
    : { algorithm: 'Git SHA-1', value: found.oid ?? '' };
  const isChecksum = /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(checksum.value);
  const isSize = Number.isSafeInteger(found.size) && found.size > 0;
  if (found.path !== path || !isChecksum || !isSize) throw noHub(hub);
  return { ...file, bytes: found.size, checksum };
}

const noHub = ({ url }: Hub) =>
  new Refusal(`${url} does not answer as the Hugging Face hub does. Is HF_ENDPOINT right?`);
