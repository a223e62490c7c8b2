/** The service as it is judged from outside: API and worker, on an embedded database of their own. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { TranscriptionClient } from '../client/index.ts';
import { admin } from '../local-service/demo-key.ts';
import { portsFor, startServiceProcess } from '../local-service/service-process.ts';
import type { AddressInfo } from 'node:net';
import type { Page } from '../client/index.ts';

const execute = promisify(execFile);
const host = '127.0.0.1';
const audio = '/usr/share/pocketsphinx/test/data/librivox/sense_and_sensibility_01_austen_64kb-0880.wav';
/** More sessions than a page of two holds, so that there is a cursor. */
const preparedSessions = 3;

export interface JudgedService {
  /**
   * What recipes are told of it: CONTRACT, as it serves it, in a file; API_URL, where version 1 is; API_KEY, with both scopes; AUDIO,
   * some seconds of speech. For fuzzing there are two more accounts with sessions, FUZZED_KEY and STRANGER_KEY, and what a fuzzer
   * must know of the first: SESSION_IDS, separated by commas, CURSOR, and SHORT_AUDIO of half a second.
   */
  environment: Record<string, string>;
  stop(): Promise<void>;
}

/** @param cache the service's folder is made in it and removed again */
export async function startJudgedService(cache: string, signal: AbortSignal): Promise<JudgedService> {
  const dataDir = await mkdtemp(join(cache, 'service-'));
  const ports = await portsFor(host);
  const url = `${ports.url}/v1`;
  const speechServer = await startSpeechServer();
  const environment = {
    ...{ ...ports.env, DATA_DIR: dataDir, DATABASE_URL: '' },
    ...{ RECOGNIZER: 'openai', OPENAI_BASE_URL: speechServer.url },
    // Judges send thousands of wrong keys from one address. That such keys are slowed down is tested elsewhere.
    AUTH_FAILURES_PER_MINUTE: '1000000',
  };
  const service = await startServiceProcess({
    ...{ answersAt: `${url}/openapi.json`, logFile: join(cache, 'service.log'), environment, signal },
  });
  const stop = async () => {
    await service.stop();
    speechServer.close();
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    const contract = join(cache, 'openapi.json');
    await writeFile(contract, await (await fetch(`${url}/openapi.json`, { signal })).text());
    const told = { CONTRACT: contract, API_URL: url, API_KEY: await issueKey(environment), AUDIO: audio };
    return { environment: { ...told, ...(await prepareFuzzing(url, environment, cache)) }, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Of a new account with an allowance and a queue that no judge uses up. */
async function issueKey(environment: Record<string, string>, runningJobs = 16): Promise<string> {
  const typed = (...args: string[]) => admin<{ id: string; secret: string }>(args, { ...process.env, ...environment });
  const { id } = await typed('accounts', 'create', '--name', 'Judges', '--plan', 'enterprise', '--balance', '1000h');
  const limits = ['--requests-per-minute', '1000000', '--queued-sessions', '1000000'];
  await typed('accounts', 'set-limits', id, ...limits, '--running-jobs', String(runningJobs));
  return (await typed('keys', 'issue', id, '--scope', 'read', '--scope', 'write')).secret;
}

async function prepareFuzzing(url: string, environment: Record<string, string>, cache: string) {
  // With one job at once for this account, a place is left for the uploads of clients while hundreds of its jobs wait.
  const [key, strangerKey] = [await issueKey(environment, 1), await issueKey(environment, 1)];
  const shortAudio = join(cache, 'short.wav');
  await execute('ffmpeg', ['-v', 'error', '-y', '-i', audio, '-t', '0.5', shortAudio]);
  const recording = new File([await readFile(shortAudio)], 'short.wav');
  const [client, stranger] = [key, strangerKey].map((apiKey) => new TranscriptionClient({ url, apiKey }));
  const ids: string[] = [];
  while (ids.length < preparedSessions) ids.push((await client!.upload(recording)).sessionId);
  await stranger!.upload(recording);
  for (const id of ids) await client!.wait(id);
  const { value } = await client!.pages({ limit: 2 }).next();
  return {
    ...{ FUZZED_KEY: key, STRANGER_KEY: strangerKey, SHORT_AUDIO: shortAudio },
    ...{ SESSION_IDS: ids.join(','), CURSOR: (value as Page).nextCursor! },
  };
}

/**
 * A server with OpenAI's `/v1/audio/transcriptions` that hears one sentence in whatever it gets. Judges look at the
 * contract, to which the times of words belong, and the default recognizer tells none.
 */
async function startSpeechServer(): Promise<{ url: string; close(): void }> {
  const words = ['Somebody', 'said', 'this.'].map((word, index) => ({
    word,
    start: index / 10,
    end: (index + 1) / 10,
  }));
  const answer = JSON.stringify({ text: words.map(({ word }) => word).join(' '), language: 'english', words });
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.setHeader('Content-Type', 'application/json').end(answer));
  });
  await once(server.listen(0, host), 'listening');
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}/v1`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
