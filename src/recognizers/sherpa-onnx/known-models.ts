/** Models to which we gave names. */
import { hubModels } from './hub-models.ts';
import { packedModels } from './packed-models.ts';
import type { HubModel } from './hub-models.ts';
import type { PackedModel } from './packed-models.ts';

export type KnownModel = HubModel | PackedModel;

export const knownModels: readonly KnownModel[] = [...packedModels, ...hubModels];

export function findKnownModel(name: string): KnownModel | undefined {
  return knownModels.find((model) => model.name === name);
}

export const isPacked = (model: KnownModel): model is PackedModel => 'version' in model;
