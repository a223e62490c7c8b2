/** Everything that runs: the service on a PostgreSQL of its own, a speech server, Prometheus, and Alertmanager. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openDatabase } from '../../db/database.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { freePort } from '../support/service/free-port.ts';
import { startOwnPostgres } from '../support/service/own-postgres.ts';
import { until } from '../support/until.ts';
import { receiveAlerts } from './alerts.ts';
import { Client } from './client.ts';
import { shortenedRules } from './shortened-rules.ts';
import { SpeechServer } from './speech.ts';
import type { ChildProcess } from 'node:child_process';
import type { OwnPostgres } from '../support/service/own-postgres.ts';
import type { Alerts } from './alerts.ts';

const root = join(import.meta.dirname, '../..');

export interface Stage {
  api: Program;
  worker: Program;
  /** An API of two processes, and their master. */
  several: Program;
  postgres: OwnPostgres;
  speech: SpeechServer;
  client: Client;
  alerts: Alerts;
  apiPort: number;
  dataDir: string;
  prometheusUrl: string;
  end(): Promise<void>;
}

/** A program that can be killed and started again. What it prints is read and forgotten. */
export class Program {
  readonly #command: string[];
  readonly #env: Record<string, string>;
  readonly #readyUrl: string;
  #child: ChildProcess | undefined;

  constructor(command: string[], env: Record<string, string>, readyUrl: string) {
    [this.#command, this.#env, this.#readyUrl] = [command, env, readyUrl];
  }

  get pid(): number {
    return this.#child!.pid!;
  }

  get output() {
    return this.#child?.stdout;
  }

  async start(): Promise<void> {
    const [program, ...args] = this.#command;
    const env = { PATH: process.env.PATH, ...this.#env };
    this.#child = spawn(program!, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] });
    this.#child.stdout!.resume();
    const isReady = () =>
      fetch(this.#readyUrl).then(
        ({ ok }) => ok,
        () => false,
      );
    await until(isReady, Boolean, 60_000);
  }

  signal(name: NodeJS.Signals): void {
    this.#child!.kill(name);
  }

  async end(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
}

export async function setStage(folder: string): Promise<Stage> {
  const postgres = await startOwnPostgres();
  const dataDir = join(folder, 'data');
  const [apiPort, apiOps, workerOps, severalOps, speechPort] = [await freePort(), await freePort(), await freePort(), await freePort(), await freePort()]; // prettier-ignore
  const speech = new SpeechServer(speechPort);
  await speech.start();
  const env = {
    ...{ DATABASE_URL: postgres.url, DATA_DIR: dataDir, MIN_FREE_DISK: '0', WORKER_CONCURRENCY: '2' },
    ...{ RECOGNIZER: 'openai', OPENAI_BASE_URL: `http://127.0.0.1:${speechPort}/v1`, AUTH_FAILURES_PER_MINUTE: '5' },
  };
  const apiCommand = ['prlimit', '--nofile=320', process.execPath, 'src/start-api.ts'];
  const readyz = (port: number) => `http://127.0.0.1:${port}/readyz`;
  const api = new Program(apiCommand, { ...env, PORT: `${apiPort}`, OPS_PORT: `${apiOps}` }, readyz(apiOps));
  const workerEnv = { ...env, OPS_PORT: `${workerOps}` };
  const worker = new Program([process.execPath, 'src/start-worker.ts'], workerEnv, readyz(workerOps));
  const severalEnv = { ...env, API_PROCESSES: '2', PORT: '0', OPS_PORT: `${severalOps}` };
  const several = new Program([process.execPath, 'src/start-api.ts'], severalEnv, readyz(severalOps));
  await api.start();
  await worker.start();
  await several.start();

  const { db, close } = openDatabase(postgres.url, () => {});
  const limits = { requests_per_minute: 1_000_000, queued_sessions: 1_000 };
  const { key } = await makeAccount(db, { limits });
  await close();

  const alerts = await receiveAlerts();
  const alertmanager = await startAlertmanager(folder, alerts.url);
  const prometheus = await startPrometheus(folder, alertmanager.port, [apiOps, workerOps, severalOps]);
  const programs = [prometheus.program, alertmanager.program, several, worker, api];
  return {
    ...{ api, worker, several, postgres, speech, alerts, apiPort, dataDir },
    client: new Client(`http://127.0.0.1:${apiPort}/v1`, key),
    prometheusUrl: `http://127.0.0.1:${prometheus.port}`,
    async end() {
      for (const program of programs) await program.end();
      await alerts.close();
      await speech.close();
      await postgres.leave();
    },
  };
}

async function startAlertmanager(folder: string, webhook: string) {
  const port = await freePort();
  const file = join(folder, 'alertmanager.json');
  const route = {
    receiver: 'test',
    group_by: ['alertname'],
    group_wait: '0s',
    group_interval: '1s',
    repeat_interval: '1h',
  };
  const receivers = [{ name: 'test', webhook_configs: [{ url: webhook, send_resolved: true }] }];
  await writeFile(file, JSON.stringify({ route, receivers }));
  const addresses = [`--web.listen-address=127.0.0.1:${port}`, '--cluster.listen-address='];
  const storage = [`--config.file=${file}`, `--storage.path=${join(folder, 'alertmanager')}`, '--log.level=error'];
  return { port, program: await started('prometheus-alertmanager', [...addresses, ...storage], port) };
}

async function startPrometheus(folder: string, alertmanagerPort: number, ports: number[]) {
  const port = await freePort();
  await mkdir(join(folder, 'prometheus'));
  await writeFile(join(folder, 'prometheus/alerts.yml'), shortenedRules);
  const config = {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: ['alerts.yml'],
    alerting: { alertmanagers: [{ static_configs: [{ targets: [`127.0.0.1:${alertmanagerPort}`] }] }] },
    scrape_configs: [
      { job_name: 'transcription', static_configs: [{ targets: ports.map((ops) => `127.0.0.1:${ops}`) }] },
    ],
  };
  // JSON is YAML.
  await writeFile(join(folder, 'prometheus/prometheus.yml'), JSON.stringify(config));
  const files = [`--config.file=${join(folder, 'prometheus/prometheus.yml')}`, `--storage.tsdb.path=${join(folder, 'prometheus/data')}`]; // prettier-ignore
  const args = [...files, `--web.listen-address=127.0.0.1:${port}`, '--log.level=error'];
  return { port, program: await started('prometheus', args, port) };
}

async function started(name: string, args: string[], port: number): Promise<Program> {
  const program = new Program([name, ...args], {}, `http://127.0.0.1:${port}/-/ready`);
  await program.start();
  return program;
}
