import { resolve } from 'node:path';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { ExecutableNotFound } from '../../src/children/bounded-command.ts';
import { ConfigError, readConfig } from '../../src/config/config.ts';
import {
  modelFolder,
  isInstalled,
  findKnownModel,
  knownModels,
} from '../../src/recognizers/sherpa-onnx/known-models.ts';
import { NoModel } from '../../src/recognizers/sherpa-onnx/model-folder.ts';
import { Refusal } from '../terminal/refusal.ts';
import { showProgressOn } from '../terminal/show-progress.ts';
import { readableSize, shown } from '../terminal/text.ts';
import { remove } from './install.ts';
import { fetchModel, installFrom } from './sources.ts';
import { right, table } from '../terminal/table.ts';
import type { Config } from '../../src/config/config.ts';
import type { KnownModel } from '../../src/recognizers/sherpa-onnx/known-models.ts';
import type { Terminal } from '../terminal/terminal.ts';

const invocation = 'npm run model --';

const environment = `
moonshine-tiny and vad come from npm, by the mirror or proxy of its configuration, and are kept in .models beside the program.
The others are kept below DATA_DIR/models and come from the Hugging Face hub; these downloads obey HF_ENDPOINT (a mirror),
HF_TOKEN, HTTPS_PROXY, HTTP_PROXY and NO_PROXY.

Exit codes: 0 done, 1 failed, 2 a mistake in what was typed or in the environment, 130 interrupted.`;

const exitCodes = { failed: 1, wrongUse: 2, interrupted: 130 };

/** @returns the exit code */
export async function modelCommand(terminal: Terminal): Promise<number> {
  const { interrupted, stopListening } = terminal.listenForInterruption();
  try {
    await createProgram(terminal, interrupted).parseAsync(terminal.argv, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.wrongUse;
    terminal.err.write(`\n${interrupted.aborted ? interruption : explanationOf(error)}\n`);
    if (interrupted.aborted) return exitCodes.interrupted;
    return error instanceof ConfigError ? exitCodes.wrongUse : exitCodes.failed;
  } finally {
    stopListening();
  }
}

const interruption = 'Interrupted. Nothing was installed.';

function explanationOf(error: unknown): string {
  const isExplained = [Refusal, ConfigError, ExecutableNotFound, NoModel].some((kind) => error instanceof kind);
  const { message, stack } = error as Error;
  return isExplained ? message : `This should not have happened.\n${stack}`;
}

/** @param signal interrupts a download */
function createProgram(terminal: Terminal, signal: AbortSignal): Command {
  const { out, err } = terminal;
  const program = new Command(invocation)
    .description('Models for RECOGNIZER=sherpa-onnx: what there is, what is installed.')
    .configureHelp({ helpWidth: 100 })
    .configureOutput({ writeOut: (text) => void out.write(text), writeErr: (text) => void err.write(text) })
    .showHelpAfterError(`Type ${invocation} --help to see what there is.`)
    .addHelpText('after', environment)
    .exitOverride();
  program
    .command('list')
    .description('List the models that have a name, and which are installed.')
    .option('--json', 'print JSON for programs')
    .action(({ json }: { json?: true }) => list(terminal, json ?? false));
  program
    .command('download')
    .description('Download a model.')
    .argument('<NAME>', 'its name, as "list" shows it', knownModel)
    .option('--from <FOLDER>', 'install it from a folder on this machine instead')
    .addHelpText(
      'after',
      `\nExamples:\n  ${invocation} download whisper-base\n  ${invocation} download whisper-base --from sherpa-onnx-whisper-base`,
    )
    .action((model: KnownModel, { from }: { from?: string }) => download(terminal, model, from, signal));
  program
    .command('remove')
    .description('Remove a model.')
    .argument('<NAME>', 'its name, as "list" shows it', knownModel)
    .action((model: KnownModel) => removeModel(terminal, model, signal));
  return program;
}

function knownModel(typed: string): KnownModel {
  const model = findKnownModel(typed);
  if (model !== undefined) return model;
  throw new InvalidArgumentError(`\nType one of these:\n${knownModels.map(({ name }) => `  ${name}`).join('\n')}`);
}

/** The part of the configuration that this command needs. A recognizer that still lacks its model is no error here. */
function readOwnConfig({ env }: Terminal): Config {
  return readConfig({ ...env, RECOGNIZER: '', SHERPA_ONNX_MODEL: '' });
}

async function list(terminal: Terminal, json: boolean): Promise<void> {
  const models = await listModels(readOwnConfig(terminal).dataDir);
  say(
    terminal,
    json ? JSON.stringify(models, null, 2) : `${modelTable(models)}\n\nTo install one: ${invocation} download NAME`,
  );
}

async function download(
  terminal: Terminal,
  model: KnownModel,
  from: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { env, err } = terminal;
  const { dataDir, minFreeDisk } = readOwnConfig(terminal);
  const folder = modelFolder(dataDir, model);
  const installation = { folder, minFreeDisk, env, signal, progress: showProgressOn(err) };
  // npm runs scripts in the project's folder; a person means the folder he typed in.
  const source = from && resolve(env['INIT_CWD'] ?? '', from);
  const isNew = await (source ? installFrom(source, model, installation) : fetchModel(model, installation));
  say(terminal, `${model.name} is installed${isNew ? '' : ' already,'} in ${shown(folder)}.`);
  say(terminal, howToUse(model));
}

function howToUse({ name, kind }: KnownModel): string {
  if (kind === 'diarization') return 'RECOGNIZER=sherpa-onnx tells speakers apart with it from the next recording on.';
  return kind === 'voice detection'
    ? 'Every recognizer hears only where somebody speaks.'
    : `Use it: RECOGNIZER=sherpa-onnx SHERPA_ONNX_MODEL=${name} npm start`;
}

async function removeModel(terminal: Terminal, model: KnownModel, signal: AbortSignal): Promise<void> {
  const { name } = model;
  const folder = modelFolder(readOwnConfig(terminal).dataDir, model);
  const bytes = await remove(model, { folder, signal, progress: showProgressOn(terminal.err) });
  const removed = `Removed ${name}: ${readableSize(bytes)} are free again.`;
  say(terminal, bytes === 0 ? `${name} is not installed: nothing was removed.` : removed);
}

const say = ({ out }: Terminal, text: string) => void out.write(`${text}\n`);

async function listModels(dataDir: string) {
  return Promise.all(
    knownModels.map(async (model) => {
      const { name, kind, languages, speed, times, bytes } = model;
      const folder = modelFolder(dataDir, model);
      const installed = await isInstalled(folder, model);
      return { id: name, name, kind, languages, ...{ speed, times, bytes, installed, folder } };
    }),
  );
}

const what: Partial<Record<KnownModel['kind'], string>> = {
  diarization: 'tells speakers apart',
  'voice detection': 'finds speech',
};

function modelTable(models: Awaited<ReturnType<typeof listModels>>): string {
  const columns = ['Name', 'Languages', 'Times', 'Speed', right('Size'), 'Installed'];
  const rows = models.map(({ name, kind, languages, times, speed, bytes, installed }) => [
    name,
    what[kind] === undefined ? languages : `${languages} (${what[kind]})`,
    times ?? '',
    speed ?? '',
    readableSize(bytes),
    installed ? 'yes' : 'no',
  ]);
  return `${table(columns, rows, 'No model is known.')}

Times: what is known to be said when. Speed: as published. Our tests run moonshine-tiny and vad; of the others
tiny ones of the same kinds.`;
}
