import { join, relative } from 'node:path';
import { stat } from 'node:fs/promises';
import { isInstalled } from '../../src/recognizers/sherpa-onnx/installed-models.ts';
import { readableSize } from '../terminal/text.ts';
import { fetchFile, partOf } from './fetch-file.ts';
import { describeFiles } from './hub.ts';
import { holdModel, keepOnly, openStaging, publish, refuseFullDisk } from './staging.ts';
import type { HubModel } from '../../src/recognizers/sherpa-onnx/known-models.ts';
import type { Progress } from '../terminal/bars.ts';
import type { HostedFile, Hub } from './hub.ts';
import type { Target } from './staging.ts';

export interface Installation extends Target {
  /** Says how the hub and npm are reached. */
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
  progress: Progress;
}

/**
 * Downloads a model, unless it is installed. Parts of an interrupted download are kept and used.
 * @returns whether it was downloaded
 * @throws {Refusal}
 * @throws the abort reason of `signal`
 */
export async function downloadModel(model: HubModel, hub: Hub, installation: Installation): Promise<boolean> {
  const { signal, progress } = installation;
  return holdModel(installation.folder, model, async () => {
    if (await isInstalled(installation.folder, model)) return false;
    const files = await describeFiles(hub, model);
    const folder = await openStaging(installation.folder);
    await keepOnly(folder, new Set(files.flatMap((file) => [file.name, relative(folder, partOf(folder, file))])));
    const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
    const before = await bytesThere(folder, files);
    await refuseFullDisk(total - before, installation);

    if (before > 0) progress.say(`Going on: ${readableSize(before)} of ${model.name} are here already.`);
    const step = progress.begin(`Downloading ${model.name} (${readableSize(total)})`, total);
    let succeeded = false;
    try {
      let done = 0;
      for (const file of files) {
        const onBytes = (bytes: number) => step.reach(done + bytes);
        await fetchFile(hub, file, folder, { signal, onBytes, onNotice: progress.say });
        done += file.bytes;
      }
      succeeded = true;
    } finally {
      step.end(succeeded);
    }
    await publish(installation.folder, model);
    return true;
  });
}

/** Bytes of complete files and of files that have begun. */
async function bytesThere(folder: string, files: readonly HostedFile[]): Promise<number> {
  const paths = files.flatMap((file) => [join(folder, file.name), partOf(folder, file)]);
  const stats = await Promise.all(paths.map((path) => stat(path).catch(() => undefined)));
  return stats.reduce((sum, entry) => sum + (entry?.size ?? 0), 0);
}
