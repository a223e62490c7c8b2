/** Runs `npm run model`, on a folder of its own, with a hub on loopback that has the tiny model. */
import { mkdtemp, readFile, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { modelCommand as command } from '../../../scripts/model/program.ts';
import { startModelHub } from '../../support/models/model-hub.ts';
import { makeTinySenseVoice } from '../../support/models/tiny/sense-voice.ts';
import { until } from '../../support/until.ts';
import { runCommand, startCommand } from '../run-command.ts';
import { startScript } from '../run-script.ts';
import type { ModelHub } from '../../support/models/model-hub.ts';
import type { RunningCommand } from '../run-command.ts';
import type { RunningScript, ScriptEnd } from '../run-script.ts';

export interface ModelCommand {
  hub: ModelHub;
  dataDir: string;
  /** Where a downloaded `sense-voice` is. */
  folder: string;
  /** The tiny model's, as the hub has them. */
  files: Record<string, Buffer>;
  run(args: string[], env?: NodeJS.ProcessEnv): Promise<ScriptEnd>;
  /** Goes on in the background. */
  start(args: string[], env?: NodeJS.ProcessEnv): RunningCommand;
  /** As npm does. */
  startProcess(args: string[]): RunningScript;
  download(env?: NodeJS.ProcessEnv): Promise<ScriptEnd>;
  /** Names and sizes of what is in a folder. */
  below(folder: string): Promise<Record<string, number>>;
  /** That `sense-voice` is there with its files and no others, each as the hub has it and for its owner only. */
  expectWhole(): Promise<void>;
  /** That of no download anything is left. */
  expectNothing(): Promise<void>;
  /** Resolves when so many bytes of the large file came to the disk. */
  partHas(bytes: number): Promise<unknown>;
  close(): Promise<void>;
}

export async function modelCommand(): Promise<ModelCommand> {
  const base = await mkdtemp(join(process.env['TEST_FOLDER']!, 'models-'));
  const tiny = await makeTinySenseVoice(join(base, 'tiny'));
  const files = {
    'model.int8.onnx': await readFile(join(tiny, 'model.onnx')),
    'tokens.txt': await readFile(join(tiny, 'tokens.txt')),
  };
  const hub = await startModelHub({ ...files });
  const dataDir = join(base, 'data');
  const environment = { DATA_DIR: dataDir, MIN_FREE_DISK: '0', HF_ENDPOINT: hub.url };

  const below = async (folder: string) => {
    const names = await readdir(folder).catch(() => []);
    const sizes = await Promise.all(names.map(async (name) => [name, (await stat(join(folder, name))).size] as const));
    return Object.fromEntries(sizes);
  };
  const folder = join(dataDir, 'models/sense-voice');
  const run: ModelCommand['run'] = (args, env) => runCommand(command, args, { env: { ...environment, ...env } });
  return {
    ...{ hub, dataDir, folder, files, below, run },
    download: (env) => run(['download', 'sense-voice'], env),
    async expectWhole() {
      expect(Object.keys(await below(folder)).sort()).toEqual(Object.keys(files).sort());
      expect((await stat(folder)).mode & 0o777).toBe(0o700);
      for (const [name, bytes] of Object.entries(files)) {
        expect(await readFile(join(folder, name))).toEqual(bytes);
        expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
      }
    },
    async expectNothing() {
      const names = await readdir(join(dataDir, 'models')).catch(() => []);
      expect(names.filter((name) => !name.endsWith('.lock'))).toEqual([]);
    },
    start: (args, env) => startCommand(command, args, { env: { ...environment, ...env } }),
    startProcess: (args) => startScript(['scripts/model/main.ts', ...args], environment),
    partHas: (bytes) =>
      until(async () => {
        const there = await below(`${folder}.partial`);
        return Object.entries(there).some(([name, size]) => name.startsWith('model.int8.onnx') && size >= bytes);
      }),
    async close() {
      await hub.close();
      await rm(base, { recursive: true, force: true });
    },
  };
}
