/** A hub on loopback that speaks what is used of the Hugging Face hub's API, with its storage at another address. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { json } from 'node:stream/consumers';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { serve } from '../serve.ts';

/** A request for metadata (`paths-info`), for a file (`resolve`), or for its bytes in the storage. */
export interface HubRequest {
  kind: 'paths-info' | 'resolve' | 'storage';
  path: string;
  authorization: string | undefined;
}

/** What goes wrong with the bytes of files, until it is set to something else. */
export interface Trouble {
  /** Every request, of metadata too, is answered with it. */
  status?: number;
  /** Other bytes of the same length. */
  damaged?: true;
  /** Sends so many bytes of the answer, and cuts the connection when `then` has resolved. */
  cut?: { after: number; then: () => Promise<unknown> };
  /** Goes on for ever. */
  endless?: true;
  /** What is said of the files instead. */
  metadata?: unknown;
}

export interface ModelHub {
  /** For `HF_ENDPOINT`. */
  url: string;
  requests: HubRequest[];
  trouble: Trouble;
  /** Bytes by name, whatever the repository: models differ in their names. Those of 1 kB and more are in the storage. */
  files: Record<string, Buffer>;
  close(): Promise<void>;
}

export async function startModelHub(files: Record<string, Buffer>): Promise<ModelHub> {
  const hub: ModelHub = { url: '', requests: [], trouble: {}, files, close: async () => {} };
  const storage = await serve((request, response) => {
    hear(hub, 'storage', request);
    void sendBytes(hub, hub.files[nameIn(request)]!, response);
  });
  const { url, close } = await serve((request, response) => void answer(hub, storage.url, request, response));
  return Object.assign(hub, { url, close });
}

async function answer(hub: ModelHub, storageUrl: string, request: IncomingMessage, response: ServerResponse) {
  const isMetadata = /^\/api\/models\/[\w.-]+\/[\w.-]+\/paths-info\/[0-9a-f]{40}$/.test(request.url!);
  const isFile = /^\/[\w.-]+\/[\w.-]+\/resolve\/[0-9a-f]{40}\/[\w./-]+$/.test(request.url!);
  hear(hub, isMetadata ? 'paths-info' : 'resolve', request);
  if (hub.trouble.status !== undefined) return response.writeHead(hub.trouble.status).end('{"error":"trouble"}');
  if (isMetadata && request.method === 'POST') {
    const { paths } = (await json(request)) as { paths: string[] };
    const infos = hub.trouble.metadata ?? paths.flatMap((path) => describe(path, hub.files[path]));
    return response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(infos));
  }
  const bytes = isFile && request.method === 'GET' ? hub.files[nameIn(request)] : undefined;
  if (bytes === undefined) return response.writeHead(404).end();
  if (bytes.length < 1000) return sendBytes(hub, bytes, response);
  return response.writeHead(302, { Location: `${storageUrl}/blobs/${nameIn(request)}` }).end();
}

/** As the hub describes a file: https://huggingface.co/docs/hub/api, `POST /api/models/{repo_id}/paths-info/{revision}` */
function describe(path: string, bytes: Buffer | undefined): object[] {
  if (bytes === undefined) return [];
  const oid = createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
  const lfs = { oid: createHash('sha256').update(bytes).digest('hex'), size: bytes.length, pointerSize: 134 };
  return [{ type: 'file', path, oid, size: bytes.length, ...(bytes.length >= 1000 && { lfs }) }];
}

async function sendBytes({ trouble }: ModelHub, content: Buffer, response: ServerResponse) {
  const body = trouble.damaged ? Buffer.alloc(content.length, 'damaged') : content;
  response.writeHead(200, trouble.endless ? {} : { 'Content-Length': body.length });
  if (trouble.endless) {
    const left = once(response, 'close');
    response.write(body);
    while (!response.destroyed) {
      if (!response.write(Buffer.alloc(65_536))) await Promise.race([once(response, 'drain'), left]);
    }
    return response;
  }
  if (trouble.cut === undefined) return response.end(body);
  response.write(body.subarray(0, trouble.cut.after));
  await trouble.cut.then();
  return response.destroy();
}

function hear(hub: ModelHub, kind: HubRequest['kind'], { url, headers }: IncomingMessage): void {
  hub.requests.push({ kind, path: url!, authorization: headers.authorization });
}

const nameIn = ({ url }: IncomingMessage) => url!.replace(/^.*(\/blobs|\/resolve\/[0-9a-f]{40})\//, '');
