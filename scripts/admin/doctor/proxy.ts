/** The proxy before a running service, asked as clients ask it. */
import { readFile } from 'node:fs/promises';
import { request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import { contractFile } from '../../../src/api/contract/document.ts';
import type { Check, Patient } from './check.ts';

/** nginx's own limit is 1 MB, Kubernetes' ingress takes what its nginx takes. A recording of an hour is larger than this. */
const uploadBytes = 32 * 1024 ** 2;
const longestMs = 60_000;

async function path({ config }: Patient): Promise<string> {
  if (config.publicUrl === undefined) return notNamed;
  const address = `${config.publicUrl}/openapi.json`;
  const answer = await fetch(address, { signal: AbortSignal.timeout(longestMs), redirect: 'manual' });
  const isOurs = answer.status === 200 && (await answer.text()) === (await readFile(contractFile, 'utf8'));
  if (!isOurs) throw new Error(`${address} answers ${answer.status}, and not the contract of this version`);
  return `${config.publicUrl} leads to the service`;
}

/** Without a key: the service refuses it before anything is stored. */
async function size({ config }: Patient): Promise<string> {
  if (config.publicUrl === undefined) return notNamed;
  const { status, type } = await upload(`${config.publicUrl}/v1/transcriptions`);
  if (status !== 401 || !type.startsWith('application/problem+json'))
    throw new Error(
      `an upload of ${uploadBytes / 1024 ** 2} MiB was answered ${status} by something before the service`,
    );
  return `an upload of ${uploadBytes / 1024 ** 2} MiB gets through`;
}

const notNamed = 'not looked for: PUBLIC_URL is not set';

/** What is refused may be answered before its last byte was sent, so that sending it fails. */
function upload(address: string): Promise<{ status: number; type: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; type: string }>();
  const headers = { 'Content-Type': 'multipart/form-data; boundary=doctor', 'Content-Length': uploadBytes };
  const options = { method: 'POST', headers, signal: AbortSignal.timeout(longestMs) };
  const sending = (address.startsWith('https:') ? overHttps : overHttp)(address, options);
  sending.on('response', ({ statusCode, headers: { 'content-type': type = '' } }) => {
    resolve({ status: statusCode!, type });
    sending.destroy();
  });
  sending.on('error', reject);
  sending.end(Buffer.alloc(uploadBytes));
  return promise;
}

export const proxyChecks: Check[] = [
  {
    ...{ name: "proxy's path", look: path },
    todo: 'Is the service running, and does the proxy take the path of PUBLIC_URL away before it asks the service? See scripts/deploy/README.md.',
  },
  {
    ...{ name: "proxy's bodies", look: size },
    todo: 'Let the proxy take bodies of any size (nginx: client_max_body_size 0): the plan of an account limits them.',
  },
];
