/** Starts the service, transcribes a recording as a customer would, and keeps serving. scripts/quickstart runs it. */
import { mkdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { ConfigError, readConfig } from '../src/config.ts';
import { demoKey } from './demo/demo-key.ts';
import { nextSteps } from './demo/next-steps.ts';
import { connectable, freePort } from './demo/addresses.ts';
import { startServiceProcess } from './demo/service-process.ts';
import { createApiClient } from './transcribe/client.ts';
import { showProgressOn } from './transcribe/progress.ts';
import { readableDuration } from './transcribe/readable.ts';
import { render } from './transcribe/rendering.ts';
import { transcribe } from './transcribe/session.ts';
import type { Config } from '../src/config.ts';

const exitCodes = { failed: 1, wrongUse: 2, interrupted: 130 };
const progress = showProgressOn(process.stdout);
const { say } = progress;

async function demonstrate(url: string, dataDir: string, audio: string): Promise<void> {
  const key = await demoKey(url, dataDir);
  const kept = `Its key is in ${shown(key.file)}`;
  say(key.isNew ? `Made a demo account with 10 h of balance. ${kept}` : `Using the demo account. ${kept}`);
  say('');
  const client = createApiClient(url, key.secret);
  const transcript = await transcribe(client, audio, { progress });
  const text = (await render(client, transcript, 'text', progress)).trimEnd();
  say(`\nTranscript (${readableDuration(transcript.durationMs ?? 0)} of audio):\n`);
  say(text === '' ? '  (nothing was said)' : text.replaceAll(/^/gm, '  '));
  say(nextSteps({ url, keyFile: key.file, audio, sessionId: transcript.sessionId }).trimEnd());
}

async function quickstart(config: Config, audio: string, once: boolean, interrupted: AbortSignal): Promise<void> {
  const { dataDir, host } = config;
  const port = await freePort(host, config.port, 'PORT');
  const opsPort = await freePort(host, config.opsPort, 'OPS_PORT');
  const url = `http://${connectable(host)}:${port}/v1`;
  await mkdir(dataDir, { recursive: true, mode: 0o711 });
  const logFile = join(dataDir, 'quickstart.log');

  say('Starting the service …');
  const environment = { PORT: String(port), OPS_PORT: String(opsPort), DATA_DIR: dataDir };
  const startedAt = Date.now();
  const service = await startServiceProcess({ url, logFile, environment, signal: interrupted });
  const { unexpectedEnd } = service;
  const interruption = new Promise<never>((_, reject) =>
    interrupted.addEventListener('abort', () => reject(interrupted.reason)),
  );
  try {
    say(`It answers at ${url} after ${readableDuration(Date.now() - startedAt)}. Its log is ${shown(logFile)}`);
    await Promise.race([demonstrate(url, dataDir, audio), unexpectedEnd, interruption]);
    if (once) return;
    say('\nServing until Ctrl-C.');
    await Promise.race([unexpectedEnd, interruption.catch(() => {})]);
    say('\nStopping …');
  } finally {
    await service.stop();
  }
}

function shown(path: string): string {
  const inside = relative('', path);
  return inside.startsWith('..') ? path : inside;
}

const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interruption.abort());

try {
  const { values, positionals } = parseArgs({ options: { once: { type: 'boolean' } }, allowPositionals: true });
  await quickstart(readConfig(process.env), positionals[0]!, values.once ?? false, interruption.signal);
  process.exit(0);
} catch (error) {
  if (interruption.signal.aborted) process.exit(exitCodes.interrupted);
  process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(error instanceof ConfigError ? exitCodes.wrongUse : exitCodes.failed);
}
