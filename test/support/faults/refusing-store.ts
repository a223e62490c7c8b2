/** An object store that takes its mark, and refuses uploads as a test says. */
import { buffer } from 'node:stream/consumers';
import { atEnd } from '../at-end.ts';
import { serve } from '../serve.ts';

const keys = { AWS_ACCESS_KEY_ID: 'access-of-tests', AWS_SECRET_ACCESS_KEY: 'secret-of-tests' };
const statuses = { NotImplemented: 501, AccessDenied: 403, PreconditionFailed: 412, NoSuchKey: 404 };

export async function startRefusingStore() {
  const objects = new Map<string, Buffer>();
  const store = {
    /** What it answers to the upload of audio. `replaces`: it takes it, whatever it holds. */
    uploads: 'taken' as 'NotImplemented' | 'AccessDenied' | 'replaces' | 'taken',
    keys: () => [...objects.keys()],
  };
  const { url } = await serve(async (request, response) => {
    const { pathname } = new URL(request.url!, 'http://store');
    const refuse = (code: keyof typeof statuses) => {
      response.writeHead(statuses[code], { 'Content-Type': 'application/xml' });
      response.end(`<Error><Code>${code}</Code><Message>${code} of a test</Message></Error>`);
    };
    const body = await buffer(request);
    if (pathname === '/audio' || pathname === '/audio/')
      return response.end('<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>');
    if (request.method === 'GET' || request.method === 'HEAD') {
      const found = objects.get(pathname);
      return found === undefined ? refuse('NoSuchKey') : response.end(found);
    }
    if (request.method === 'DELETE') {
      objects.delete(pathname);
      return response.writeHead(204).end();
    }
    if (request.headers['if-none-match'] === '*') {
      if (store.uploads === 'NotImplemented' || store.uploads === 'AccessDenied') return refuse(store.uploads);
      if (store.uploads === 'taken' && objects.has(pathname)) return refuse('PreconditionFailed');
    }
    objects.set(pathname, body);
    return response.end();
  });
  const before = { ...process.env };
  // The SDK of this process looks for them there, as that of a service does.
  Object.assign(process.env, keys);
  atEnd(() => {
    for (const name of Object.keys(keys)) delete process.env[name];
    Object.assign(process.env, before);
  });
  /** What an operator sets. */
  const env = { ...keys, AWS_ENDPOINT_URL: url, AUDIO_STORE: 's3://audio' };
  return Object.assign(store, { env });
}
