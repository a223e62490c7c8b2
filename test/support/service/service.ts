/** The service in the test's own process, on a database and a folder of its own, spoken to over real HTTP. */
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import supertest from 'supertest';
import { startApi } from '../../../src/process/api-server.ts';
import { readConfig } from '../../../src/config/config.ts';
import { FileAudioStore } from '../../../src/files/file-audio-store.ts';
import { createContext } from '../../../src/process/context.ts';
import { createLog } from '../../../src/ops/log.ts';
import { selectRecognizer } from '../../../src/recognizers/select.ts';
import { startWorker } from '../../../src/worker/worker.ts';
import '../clients/checked-answers.ts';
import { createTestDatabase } from './database.ts';
import type { Test } from 'supertest';
import type { Recognizer } from '../../../src/recognizers/recognizer.ts';
import type { Worker } from '../../../src/worker/worker.ts';

export type TestService = Awaited<ReturnType<typeof startTestService>>;

export interface TestServiceOptions {
  /** More environment, as an operator would set it. */
  env?: Record<string, string>;
  /** The database (and folder) of another service, to be its second process. */
  beside?: { databaseUrl: string; dataDir: string };
}

export async function startTestService({ env = {}, beside }: TestServiceOptions = {}) {
  const database = beside === undefined ? await createTestDatabase() : undefined;
  const databaseUrl = database?.url ?? beside!.databaseUrl;
  const dataDir = beside?.dataDir ?? (await mkdtemp(join(process.env.TEST_FOLDER!, 'data-')));
  const defaults = {
    ...{ DATABASE_URL: databaseUrl, DATA_DIR: dataDir, PORT: '0', OPS_PORT: '0', MIN_FREE_DISK: '0' },
  };
  const config = readConfig({ ...defaults, ...env });
  /** Every line that the service logged, as JSON text. */
  const logLines: string[] = [];
  const log = createLog({ logLevel: 'debug' }, { write: (line) => void logLines.push(line) });
  const context = await createContext(config, log, 'worker');
  const api = await startApi(context, databaseUrl).catch(async (error: unknown) => {
    await context.close();
    throw error;
  });
  const url = `http://127.0.0.1:${api.port}`;
  const workers: Worker[] = [];

  /** A request. Whatever client a test uses, no answer that breaks the contract gets to it. */
  const request = (
    method: 'get' | 'head' | 'post' | 'put' | 'delete' | 'patch' | 'options',
    path: string,
    key?: string,
  ): Test => {
    const test = supertest(url)[method](path);
    return key === undefined ? test : test.set('Authorization', `Bearer ${key}`);
  };
  return {
    ...context,
    audioStore: new FileAudioStore(dataDir),
    ...{ url, dataDir, logLines, api, request },
    get: (path: string, key?: string) => request('get', path, key),
    post: (path: string, key?: string) => request('post', path, key),
    /** Starts a worker half beside it, with the recognizer of its configuration unless it is given one. */
    async work(recognizer?: Recognizer): Promise<Worker> {
      const worker = await startWorker(context, recognizer ?? (await selectRecognizer(config)));
      workers.push(worker);
      return worker;
    },
    async stop(): Promise<void> {
      await Promise.all([api.stop(), ...workers.map((worker) => worker.stop())]);
      await context.close();
      if (database === undefined) return;
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
