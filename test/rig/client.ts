/** One request to the service, as a client sends it. */

export interface Server {
  /** Without `/v1`. */
  url: string;
  key: string;
  /** Told of every request of a client that does not give up, and why it has to be sent again where it has to. */
  heard?: (path: string, whyAgain: string | undefined) => void;
}

export interface Answer<Body> {
  status: number;
  body: Body;
  /** Whether it is the answer of an earlier request with the same Idempotency-Key. */
  isReplay: boolean;
}

const limitMs = 20_000;

/**
 * @param path below `/v1`
 * @throws when there is no answer, or not within 20 s where `init` says nothing else
 */
export async function ask<Body>({ url, key }: Server, path: string, init: RequestInit = {}): Promise<Answer<Body>> {
  const response = await fetch(`${url}/v1${path}`, {
    signal: AbortSignal.timeout(limitMs),
    ...init,
    headers: { ...init.headers, Authorization: `Bearer ${key}` },
  });
  const body = (await response.json()) as Body;
  return { status: response.status, body, isReplay: response.headers.get('idempotency-replayed') === 'true' };
}

/** Undefined when there was no answer. */
export const statusOf = (server: Server, path: string, init?: RequestInit): Promise<number | undefined> =>
  ask(server, path, init).then(
    ({ status }) => status,
    () => undefined,
  );

/** An upload of these bytes. */
export function uploadOf(bytes: Uint8Array, fileName: string): RequestInit {
  const body = new FormData();
  body.set('file', new Blob([Uint8Array.from(bytes)], { type: 'audio/wav' }), fileName);
  return { method: 'POST', body };
}
