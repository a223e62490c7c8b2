/** Everything that runs: the service on a PostgreSQL of its own, a speech server, Prometheus, and Alertmanager. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openDatabase } from '../../db/connection/database.ts';
import { Machine } from '../rig/machine.ts';
import { answers, nodeOfService } from '../rig/node-of-service.ts';
import { here, steadyPort } from '../rig/place.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { startOwnPostgres } from '../support/service/own-postgres.ts';
import { receiveAlerts } from './alerts.ts';
import { Client } from './client.ts';
import { shortenedRules } from './shortened-rules.ts';
import { startSpeech } from './speech.ts';
import type { OwnPostgres } from '../support/service/own-postgres.ts';
import type { Alerts } from './alerts.ts';
import type { Speech } from './speech.ts';

export interface Stage {
  api: Machine;
  worker: Machine;
  postgres: OwnPostgres;
  speech: Speech;
  client: Client;
  alerts: Alerts;
  apiPort: number;
  /** Of API and worker. */
  opsPorts: readonly number[];
  dataDir: string;
  prometheusUrl: string;
  /** @returns ends of programs that nobody asked for */
  end(): Promise<string[]>;
}

export async function setStage(folder: string): Promise<Stage> {
  const postgres = await startOwnPostgres();
  const dataDir = join(folder, 'data');
  await mkdir(dataDir);
  const speech = await startSpeech();
  const shared = { DATABASE_URL: postgres.url, RECOGNIZER: 'openai', OPENAI_BASE_URL: speech.url };
  const opsPorts: number[] = [];
  const begin = async (name: string, script: 'start-api' | 'start-worker', more: object, wrapper: string[] = []) => {
    opsPorts.push(await steadyPort());
    const env = { ...shared, AUTH_FAILURES_PER_MINUTE: '5', OPS_PORT: `${opsPorts.at(-1)}`, ...more };
    const machine = nodeOfService(here(name), script, { folder: dataDir, env, wrapper });
    await machine.start();
    return machine;
  };
  const apiPort = await steadyPort();
  const api = await begin('API', 'start-api', { PORT: `${apiPort}` }, ['prlimit', '--nofile=320']);
  // With more, only more clients than these would make it busy.
  const worker = await begin('worker', 'start-worker', { OPENAI_MAX_REQUESTS: '1' });

  const { db, close } = openDatabase(postgres.url, () => {});
  const limits = { requests_per_minute: 1_000_000, queued_sessions: 1_000 };
  const { key } = await makeAccount(db, { limits }).finally(close);

  const alerts = await receiveAlerts();
  const alertmanager = await startAlertmanager(folder, alerts.url);
  const prometheus = await startPrometheus(folder, alertmanager.address, opsPorts);
  const machines = [prometheus.machine, alertmanager.machine, worker, api];
  return {
    ...{ api, worker, postgres, speech, alerts, apiPort, opsPorts, dataDir },
    client: new Client({ url: `http://127.0.0.1:${apiPort}`, key }),
    prometheusUrl: `http://${prometheus.address}`,
    async end() {
      for (const machine of machines) await machine.stop();
      await alerts.close();
      await speech.close();
      await postgres.leave();
      return machines.flatMap(({ faults }) => faults);
    },
  };
}

async function startAlertmanager(folder: string, webhook: string) {
  const route = {
    ...{ receiver: 'test', group_by: ['alertname'], group_wait: '0s', group_interval: '1s', repeat_interval: '1h' },
  };
  const receivers = [{ name: 'test', webhook_configs: [{ url: webhook, send_resolved: true }] }];
  await writeFile(join(folder, 'alertmanager.json'), JSON.stringify({ route, receivers }));
  const files = ['--config.file=alertmanager.json', '--storage.path=alertmanager'];
  return start('prometheus-alertmanager', folder, [...files, '--cluster.listen-address=']);
}

async function startPrometheus(folder: string, alertmanager: string, opsPorts: readonly number[]) {
  await writeFile(join(folder, 'alerts.yml'), shortenedRules);
  const targets = opsPorts.map((port) => `127.0.0.1:${port}`);
  const config = {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: ['alerts.yml'],
    alerting: { alertmanagers: [{ static_configs: [{ targets: [alertmanager] }] }] },
    scrape_configs: [{ job_name: 'transcription', static_configs: [{ targets }] }],
  };
  // JSON is YAML.
  await writeFile(join(folder, 'prometheus.yml'), JSON.stringify(config));
  return start('prometheus', folder, ['--config.file=prometheus.yml', '--storage.tsdb.path=prometheus']);
}

/** Ready, and where it answers. */
async function start(program: string, folder: string, args: readonly string[]) {
  const address = `127.0.0.1:${await steadyPort()}`;
  const machine = new Machine(here(program), {
    command: [program, ...args, `--web.listen-address=${address}`, '--log.level=error'],
    ...{ env: {}, folder, isUp: () => answers(`http://${address}/-/ready`) },
  });
  await machine.start();
  return { machine, address };
}
