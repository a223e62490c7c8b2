/** A version of the service in a folder of its own: started by npm's scripts, asked over HTTP. */
import { execFile } from 'node:child_process';
import { openAsBlob } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { TranscriptionClient } from '../client/index.ts';
import { startServiceProcess } from '../local-service/service-process.ts';
import type { ServiceProcess } from '../local-service/service-process.ts';

/** What a released version answered, with which a later one is compared. */
export interface Answers {
  /** RFC 3339: when the data folder was made. */
  madeAt: string;
  accountId: string;
  /** Of a key with both scopes. It opens nothing but this data folder. */
  key: string;
  balance: unknown;
  /** As `GET /sessions/{id}` answered. */
  sessions: Record<string, unknown>[];
  /** As `GET /sessions/{id}/transcript` answered, of the sessions that were final. */
  transcripts: Record<string, unknown>[];
  /** Ids of the sessions that this version left to its successor: one that was never taken, and one that a killed worker held. */
  unfinished: string[];
}

const [apiPort, apiOpsPort, workerOpsPort] = [28_080, 28_090, 28_091];
const apiUrl = `http://127.0.0.1:${apiPort}/v1`;

export class ReleasedService {
  /** The secret of a key with both scopes. */
  key = '';
  accountId = '';
  readonly #folder: string;
  readonly #dataDir: string;
  readonly #environment: Record<string, string>;
  readonly #processes: ServiceProcess[] = [];

  constructor(folder: string, dataDir: string) {
    this.#folder = folder;
    this.#dataDir = dataDir;
    this.#environment = { DATABASE_URL: '', DATA_DIR: dataDir, LOG_LEVEL: 'info' };
  }

  /** Starts the API, and makes an account with a key. */
  async start(): Promise<void> {
    await this.#start('start:api', { PORT: String(apiPort), OPS_PORT: String(apiOpsPort) }, apiOpsPort);
    const words = ['--name', 'Released Ltd', '--plan', 'team', '--balance', '1h'];
    this.accountId = (await this.admin('accounts', 'create', ...words))['id'] as string;
    const scopes = ['--scope', 'read', '--scope', 'write'];
    this.key = (await this.admin('keys', 'issue', this.accountId, ...scopes))['secret'] as string;
  }

  /** @returns what kills it */
  async startWorker(): Promise<() => void> {
    const { pid } = await this.#start('start:worker', { OPS_PORT: String(workerOpsPort) }, workerOpsPort);
    return () => process.kill(-pid, 'SIGKILL');
  }

  /** @returns the session's id */
  async upload(file: string): Promise<string> {
    const client = new TranscriptionClient({ url: apiUrl, apiKey: this.key });
    return (await client.upload(new File([await openAsBlob(file)], basename(file)))).sessionId;
  }

  async waitFor(session: string, status: string): Promise<void> {
    for (let tries = 0; tries < 3_000; tries++) {
      if ((await this.get<{ status: string }>(`/sessions/${session}`)).status === status) return;
      // Within the plan's allowance.
      await pause(250);
    }
    throw new Error(`session ${session} was never ${status}`);
  }

  /** What it answers, as it stands. */
  async get<Answer>(path: string): Promise<Answer> {
    const headers = { Authorization: `Bearer ${this.key}`, Accept: 'application/json' };
    const answer = await fetch(`${apiUrl}${path}`, { headers });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Answer;
  }

  async admin(...words: string[]): Promise<Record<string, unknown>> {
    const command = ['run', '--silent', 'admin', '--', ...words, '--json'];
    const env = { ...process.env, ...this.#environment };
    const { stdout } = await promisify(execFile)('npm', command, { cwd: this.#folder, env });
    return JSON.parse(stdout) as Record<string, unknown>;
  }

  async stop(): Promise<void> {
    for (const { stop } of this.#processes) await stop();
  }

  async #start(script: string, env: Record<string, string>, opsPort: number): Promise<ServiceProcess> {
    const service = await startServiceProcess({
      ...{ command: ['npm', 'run', '--silent', script], folder: this.#folder, byNpm: true },
      ...{ answersAt: `http://127.0.0.1:${opsPort}/readyz`, logFile: join(this.#dataDir, `../${opsPort}.log`) },
      ...{ environment: { ...this.#environment, ...env }, signal: new AbortController().signal },
    });
    this.#processes.push(service);
    return service;
  }
}
