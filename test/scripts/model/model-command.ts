/** Runs the real `npm run model`, on a folder of its own, with a hub on loopback that has the tiny model. */
import { mkdtemp, readFile, readdir, rm, stat } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { projectFolder } from '../../architecture/source-files.ts';
import { startModelHub } from '../../support/models/model-hub.ts';
import { makeTinySenseVoice } from '../../support/models/tiny/sense-voice.ts';
import { until } from '../../support/until.ts';
import { runScript } from '../run-script.ts';
import type { ModelHub } from '../../support/models/model-hub.ts';
import type { ScriptEnd } from '../run-script.ts';

export interface ModelCommand {
  hub: ModelHub;
  dataDir: string;
  /** Where a downloaded `sense-voice` is. */
  folder: string;
  /** The tiny model's, as the hub has them. */
  files: Record<string, Buffer>;
  run(args: string[], env?: NodeJS.ProcessEnv): Promise<ScriptEnd>;
  /** Goes on in the background. */
  start(args: string[], env?: NodeJS.ProcessEnv): { interrupt(): void; ended: Promise<ScriptEnd> };
  /** Names and sizes of what is below `models`. */
  below(folder: string): Promise<Record<string, number>>;
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
  return {
    ...{ hub, dataDir, folder, files, below },
    run: (args, env) => runScript(['scripts/model/main.ts', ...args], { ...environment, ...env }),
    start(args, env) {
      const own = { PATH: process.env['PATH'], ...environment, ...env };
      const child = spawn(process.execPath, ['scripts/model/main.ts', ...args], { cwd: projectFolder, env: own });
      const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]).then(
        ([stdout, stderr, [code]]) => ({ stdout, stderr, code: code as number | null }),
      );
      return { interrupt: () => child.kill('SIGINT'), ended };
    },
    partHas: (bytes) =>
      until(async () => {
        const there = await below(`${folder}.partial`);
        return Object.entries(there).some(([name, size]) => name.startsWith('model.int8.onnx') && size >= bytes);
      }),
    async close() {
      hub.close();
      await rm(base, { recursive: true, force: true });
    },
  };
}
