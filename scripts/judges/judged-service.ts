/** The service as it is judged from outside: API and worker, on an embedded database of their own. */
import { execFile } from 'node:child_process';
import { openAsBlob } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../local-service/addresses.ts';
import { startServiceProcess } from '../local-service/service-process.ts';
import { createApiClient } from '../terminal/api-client.ts';
import { startSpeechServer } from './speech-server.ts';
import { expect } from './judge.ts';
import type { ApiClient } from '../terminal/api-client.ts';
import type { JudgedService } from './judge.ts';

const execute = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');
const host = '127.0.0.1';
const audio = '/usr/share/pocketsphinx/test/data/librivox/sense_and_sensibility_01_austen_64kb-0880.wav';
/** More sessions than a page of two holds, so that there is a cursor. */
const preparedSessions = 3;

export interface StartedService extends JudgedService {
  /** The contract as it was served, in a file. */
  contract: string;
  stop(): Promise<void>;
}

/** @param cache the service's folder is made in it and removed again */
export async function startJudgedService(cache: string, signal: AbortSignal): Promise<StartedService> {
  const dataDir = await mkdtemp(join(cache, 'service-'));
  const [port, opsPort] = [await freePort(host, 0, 'PORT'), await freePort(host, 0, 'OPS_PORT')];
  const url = `http://${host}:${port}/v1`;
  const speechServer = await startSpeechServer();
  const environment = {
    ...{ HOST: host, PORT: String(port), OPS_PORT: String(opsPort), DATA_DIR: dataDir, DATABASE_URL: '' },
    ...{ RECOGNIZER: 'openai', OPENAI_BASE_URL: speechServer.url },
    // Judges send thousands of wrong keys from one address. That such keys are slowed down is tested elsewhere.
    AUTH_FAILURES_PER_MINUTE: '1000000',
  };
  const service = await startServiceProcess({ url, logFile: join(cache, 'service.log'), environment, signal });
  const stop = async () => {
    await service.stop();
    await speechServer.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    const contract = join(cache, 'openapi.json');
    await writeFile(contract, await (await fetch(`${url}/openapi.json`, { signal })).text());
    const key = await issueKey(environment);
    return { ...{ url, key, audio, contract, stop }, fuzzed: await prepareFuzzing(url, environment, cache) };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function prepareFuzzing(url: string, environment: Record<string, string>, cache: string) {
  // With one job at once for this account, a place is left for the uploads of clients while hundreds of its jobs wait.
  const [key, strangerKey] = [await issueKey(environment, 1), await issueKey(environment, 1)];
  const shortAudio = join(cache, 'short.wav');
  await execute('ffmpeg', ['-v', 'error', '-y', '-i', audio, '-t', '0.5', shortAudio]);

  const client = createApiClient(url, key);
  const sessionIds: string[] = [];
  for (let made = 0; made < preparedSessions; made += 1) sessionIds.push(await upload(client, shortAudio));
  await upload(createApiClient(url, strangerKey), shortAudio);
  for (const id of sessionIds) await completed(client, id);
  return { ...{ key, strangerKey, sessionIds, audio: shortAudio }, cursor: await cursorOf(client) };
}

/** Of a new account with an allowance and a queue that no judge uses up. */
async function issueKey(environment: Record<string, string>, runningJobs = 16): Promise<string> {
  const admin = async <Result>(...args: string[]): Promise<Result> => {
    const command = ['scripts/admin/main.ts', ...args, '--json'];
    const { stdout } = await execute(process.execPath, command, { cwd: root, env: { ...process.env, ...environment } });
    return JSON.parse(stdout) as Result;
  };
  const account = ['--name', 'Judges', '--plan', 'enterprise', '--balance', '1000h'];
  const { id } = await admin<{ id: string }>('accounts', 'create', ...account);
  const limits = ['--requests-per-minute', '1000000', '--queued-sessions', '1000000'];
  await admin('accounts', 'set-limits', id, ...limits, '--running-jobs', String(runningJobs));
  return (await admin<{ secret: string }>('keys', 'issue', id, '--scope', 'read', '--scope', 'write')).secret;
}

async function upload(client: ApiClient, file: string): Promise<string> {
  const form = new FormData();
  form.set('file', await openAsBlob(file), basename(file));
  const { data } = await client.POST('/transcriptions', {
    body: {} as { file: string },
    bodySerializer: () => form,
  });
  expect(data !== undefined, 'the upload of a recording was refused');
  return data.sessionId;
}

async function completed(client: ApiClient, id: string): Promise<void> {
  const params = { path: { id }, query: { wait: 30 } };
  const { data } = await client.GET('/sessions/{id}/transcript', { params });
  expect(typeof data === 'object' && data.status === 'completed', `session ${id} is not completed after 30 s`);
}

async function cursorOf(client: ApiClient): Promise<string> {
  const { data } = await client.GET('/sessions', { params: { query: { limit: 2 } } });
  expect(data?.nextCursor !== undefined, 'the list has no second page');
  return data.nextCursor;
}
