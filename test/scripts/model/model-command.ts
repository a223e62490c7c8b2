/** Runs `npm run model`, on a folder of its own, with a hub on loopback that has the tiny model. */
import { mkdtemp, readFile, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { modelCommand as command } from '../../../scripts/model/program.ts';
import { startModelHub } from '../../support/models/model-hub.ts';
import { makeTinySenseVoice } from '../../support/models/tiny/sense-voice.ts';
import { until } from '../../support/until.ts';
import { runCommand } from '../run-command.ts';
import { startScript } from '../run-script.ts';

export type ModelCommand = Awaited<ReturnType<typeof modelCommand>>;

export async function modelCommand() {
  const base = await mkdtemp(join(process.env['TEST_FOLDER']!, 'models-'));
  const tiny = await makeTinySenseVoice(join(base, 'tiny'));
  /** The tiny model's, as the hub has them. */
  const files: Record<string, Buffer> = {
    'model.int8.onnx': await readFile(join(tiny, 'model.onnx')),
    'tokens.txt': await readFile(join(tiny, 'tokens.txt')),
  };
  const hub = await startModelHub({ ...files });
  const dataDir = join(base, 'data');
  const environment = { DATA_DIR: dataDir, MIN_FREE_DISK: '0', HF_ENDPOINT: hub.url };

  /** Names and sizes of what is in a folder. */
  const below = async (folder: string): Promise<Record<string, number>> => {
    const names = await readdir(folder).catch(() => []);
    const sizes = await Promise.all(names.map(async (name) => [name, (await stat(join(folder, name))).size] as const));
    return Object.fromEntries(sizes);
  };
  /** Where a downloaded `sense-voice` is. */
  const folder = join(dataDir, 'models/sense-voice');
  const run = (args: string[], env?: NodeJS.ProcessEnv) =>
    runCommand(command, args, { env: { ...environment, ...env } });
  return {
    ...{ hub, dataDir, folder, files, below, run },
    download: (env?: NodeJS.ProcessEnv) => run(['download', 'sense-voice'], env),
    /** That `sense-voice` is there with its files and no others, each as the hub has it and for its owner only. */
    async expectWhole() {
      expect(Object.keys(await below(folder)).sort()).toEqual(Object.keys(files).sort());
      expect((await stat(folder)).mode & 0o777).toBe(0o700);
      for (const [name, bytes] of Object.entries(files)) {
        expect(await readFile(join(folder, name))).toEqual(bytes);
        expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
      }
    },
    /** That of no download anything is left. */
    async expectNothing() {
      const names = await readdir(join(dataDir, 'models')).catch(() => []);
      expect(names.filter((name) => !name.endsWith('.lock'))).toEqual([]);
    },
    /** As npm does. */
    startProcess: (args: string[]) => startScript(['scripts/model/main.ts', ...args], environment),
    /** Resolves when so many bytes of the large file came to the disk. */
    partHas: (bytes: number) =>
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
