/** The packed models without which a worker does not start. */
import { isInstalled, modelFolder } from '../../src/recognizers/sherpa-onnx/installed-models.ts';
import { packedModels } from '../../src/recognizers/sherpa-onnx/known-models.ts';
import type { Config } from '../../src/config/config.ts';
import type { PackedModel } from '../../src/recognizers/sherpa-onnx/known-models.ts';
import type { Progress } from '../terminal/bars.ts';

export async function lackingModels({ dataDir, recognizer, sherpaOnnxModel }: Config): Promise<PackedModel[]> {
  const chosen = recognizer === 'sherpa-onnx' ? sherpaOnnxModel.name : undefined;
  const needed = packedModels.filter(({ kind, name }) => kind === 'voice detection' || name === chosen);
  const installed = await Promise.all(needed.map((model) => isInstalled(modelFolder(dataDir, model), model)));
  return needed.filter((_, index) => !installed[index]);
}

/**
 * @throws {Refusal}
 * @throws the abort reason of `asked.signal`
 */
export async function installLackingModels(
  config: Config,
  asked: { env: NodeJS.ProcessEnv; signal: AbortSignal; progress: Progress },
): Promise<void> {
  const lacking = await lackingModels(config);
  if (lacking.length === 0) return;
  // Loaded only where it is needed, which is once.
  const { installPacked } = await import('./packed.ts');
  const { dataDir, minFreeDisk } = config;
  for (const model of lacking)
    await installPacked(model, { folder: modelFolder(dataDir, model), minFreeDisk, ...asked });
}
