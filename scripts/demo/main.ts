/** Starts the service, transcribes a recording as a customer would, and keeps serving. scripts/quickstart runs it. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ConfigError, readConfig } from '../../src/config/config.ts';
import { findKnownModel, knownModels, modelFolder } from '../../src/recognizers/sherpa-onnx/known-models.ts';
import { TranscriptionClient } from '../client/index.ts';
import { demoKey } from '../local-service/demo-key.ts';
import { portsFor, startServiceProcess } from '../local-service/service-process.ts';
import { fetchModel, installLackingModels } from '../model/sources.ts';
import { runWork } from '../terminal/run-command.ts';
import { showProgressOn } from '../terminal/show-progress.ts';
import { readableDuration, quoted, shown } from '../terminal/text.ts';
import { render } from '../transcribe/formats.ts';
import { sayingPauses, transcribe } from '../transcribe/session.ts';
import type { Config } from '../../src/config/config.ts';
import type { KnownModel } from '../../src/recognizers/sherpa-onnx/known-models.ts';

/**
 * The lines to paste after a first transcript. The key stays in its file, so it is not shown on screens or kept in
 * histories.
 */
function nextSteps(options: { url: string; keyFile: string; audio: string; sessionId: string }): string {
  const { url, sessionId } = options;
  const authorization = `-H "Authorization: Bearer $(cat ${quoted(options.keyFile)})"`;
  return `
While the service runs, upload it yourself:
  curl ${authorization} -F file=@${quoted(options.audio)} ${url}/transcriptions

read this transcript again, as captions:
  curl ${authorization} -H "Accept: text/vtt" ${url}/sessions/${sessionId}/transcript

or do both with the client that comes with it:
  cd ${quoted(process.cwd())}
  TRANSCRIPTION_API_KEY=$(cat ${quoted(options.keyFile)}) npm run --silent transcribe -- --url ${url} ${quoted(options.audio)} --srt
`;
}

const progress = showProgressOn(process.stdout);
const { say } = progress;

async function demonstrate(url: string, dataDir: string, audio: string): Promise<void> {
  const key = await demoKey(url, dataDir);
  const kept = `Its key is in ${shown(key.file)}`;
  say(key.isNew ? `Made a demo account with 10 h of balance. ${kept}` : `Using the demo account. ${kept}`);
  say('');
  const client = new TranscriptionClient({ url, apiKey: key.secret });
  const course = { progress, onPause: sayingPauses(progress) };
  const transcript = await transcribe(client, audio, {}, course);
  const text = (await render(client, transcript, 'txt', course)).trimEnd();
  say(`\nTranscript (${readableDuration(transcript.durationMs ?? 0)} of audio):\n`);
  say(text === '' ? '  (nothing was said)' : text.replaceAll(/^/gm, '  '));
  say(nextSteps({ url, keyFile: key.file, audio, sessionId: transcript.sessionId }).trimEnd());
}

interface Wish {
  audio: string;
  once: boolean;
  /** Used instead of the recognizer that the environment names. */
  model: KnownModel | undefined;
}

async function quickstart({ audio, once, model }: Wish, interrupted: AbortSignal): Promise<void> {
  const choice = model && { RECOGNIZER: 'sherpa-onnx', SHERPA_ONNX_MODEL: model.name };
  const config = readConfig({ ...process.env, ...choice });
  const { dataDir, host } = config;
  const ports = await portsFor(host, config);
  const url = `${ports.url}/v1`;
  await mkdir(dataDir, { recursive: true, mode: 0o711 });
  const logFile = join(dataDir, 'quickstart.log');

  if (model !== undefined) await install(model, config, interrupted);
  await installLackingModels(config, { env: process.env, signal: interrupted, progress });
  say('Starting the service …');
  const environment = { ...ports.env, DATA_DIR: dataDir, ...choice };
  const startedAt = Date.now();
  const service = await startServiceProcess({
    answersAt: `${url}/openapi.json`,
    logFile,
    environment,
    signal: interrupted,
  });
  const { unexpectedEnd } = service;
  const interruption = new Promise<never>((_, reject) =>
    interrupted.addEventListener('abort', () => reject(interrupted.reason)),
  );
  try {
    say(
      `It answers at ${url} after ${readableDuration(Date.now() - startedAt)}. Its documentation is at ${ports.url}/docs, its log ${shown(logFile)}`,
    );
    await Promise.race([demonstrate(url, dataDir, audio), unexpectedEnd, interruption]);
    if (once) return;
    say('\nServing until Ctrl-C.');
    await Promise.race([unexpectedEnd, interruption.catch(() => {})]);
    say('\nStopping …');
  } finally {
    await service.stop();
  }
}

async function install(model: KnownModel, { dataDir, minFreeDisk }: Config, signal: AbortSignal): Promise<void> {
  await fetchModel(model, { folder: modelFolder(dataDir, model), minFreeDisk, env: process.env, signal, progress });
}

/** @throws {ConfigError} */
function modelNamed(name: string): KnownModel {
  const model = findKnownModel(name);
  if (model?.kind === 'recognition') return model;
  const names = knownModels.filter(({ kind }) => kind === 'recognition').map((known) => known.name);
  throw new ConfigError([`--model ${name}: expected one of ${names.join(', ')}`]);
}

await runWork(
  async (interrupted) => {
    const options = { once: { type: 'boolean' }, model: { type: 'string' } } as const;
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const { once = false, model } = values;
    const wish = { audio: positionals[0]!, once, model: model === undefined ? undefined : modelNamed(model) };
    await quickstart(wish, interrupted);
    return 0;
  },
  ({ message }) => `\n${message}`,
);
