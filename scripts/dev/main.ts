/**
 * `npm run dev`: the service for developers. It starts again when a file changes, has a readable log and a demo key to
 * paste. When openapi.yaml is saved, the files that follow from it are written again.
 */
import { spawn } from 'node:child_process';
import { watch } from 'node:fs';
import { resolve } from 'node:path';
import pretty from 'pino-pretty';
import { ConfigError, readConfig } from '../../src/config/config.ts';
import { portsFor, answering } from '../local-service/service-process.ts';
import { demoKey } from '../local-service/demo-key.ts';
import { installLackingModels } from '../model/sources.ts';
import { quoted } from '../terminal/text.ts';
import { showProgressOn } from '../terminal/show-progress.ts';
import type { ChildProcess } from 'node:child_process';

const root = resolve(import.meta.dirname, '../..');
/** An editor writes a file in several steps. */
const settleMs = 200;

function startWatched(ports: Record<string, string>): ChildProcess {
  const watched = ['src', 'handlers', 'db', 'codegen'].map((folder) => `--watch-path=${folder}`);
  const program = [process.execPath, ...watched, '--watch-preserve-output', 'src/start.ts'];
  const service = spawn('setpriv', ['--pdeathsig', 'TERM', '--', ...program], {
    cwd: root,
    env: { ...process.env, ...ports },
    // Ctrl-C reaches only this process, which then waits for an orderly end of the service.
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  service.stdout!.pipe(pretty({ colorize: process.stdout.isTTY, translateTime: 'SYS:HH:MM:ss', ignore: 'pid' }));
  return service;
}

function regenerateOnSave(): void {
  let timer: NodeJS.Timeout | undefined;
  // The folder is watched, because many editors replace a file by a new one.
  watch(root, { persistent: false }, (_event, name) => {
    if (name !== 'openapi.yaml') return;
    clearTimeout(timer);
    timer = setTimeout(
      () => spawn(process.execPath, ['codegen/generate.ts'], { cwd: root, stdio: 'inherit' }),
      settleMs,
    );
  });
}

async function sayHowToUseIt(url: string, dataDir: string): Promise<void> {
  await answering(`${url}/openapi.json`, AbortSignal.timeout(60_000));
  const key = await demoKey(url, dataDir);
  console.log(`\nThe API answers at ${url}, its documentation at ${new URL('/docs', url)}. Try it:`);
  console.log(`  curl -H "Authorization: Bearer $(cat ${quoted(key.file)})" ${url}/sessions\n`);
}

try {
  const config = readConfig(process.env);
  const { host, dataDir } = config;
  const { signal } = new AbortController();
  await installLackingModels(config, { env: process.env, signal, progress: showProgressOn(process.stderr) });
  const ports = await portsFor(host, config);
  const service = startWatched(ports.env);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => service.kill('SIGTERM'));
  service.once('exit', (code) => process.exit(code ?? 0));
  regenerateOnSave();
  await sayHowToUseIt(`${ports.url}/v1`, dataDir);
} catch (error) {
  console.error(Error.isError(error) ? error.message : error);
  process.exit(error instanceof ConfigError ? 2 : 1);
}
