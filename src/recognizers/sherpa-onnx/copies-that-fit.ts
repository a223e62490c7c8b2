import { totalmem } from 'node:os';

/** A model that is loaded and at work takes about twice its size on disk. */
const bytesPerByte = 2;
/**
 * The part of the memory that models may take. The rest is for PostgreSQL, the API, ffmpeg and the models that tell
 * speakers apart.
 */
const shareOfModels = 0.5;

/**
 * How many processes may hold a model at once, at least one.
 * @param modelBytes of all files of the model
 * @param memoryBytes of this machine, or of the control group that this process is in
 */
export function copiesThatFit(modelBytes: number, memoryBytes = availableMemory()): number {
  return Math.max(1, Math.floor((memoryBytes * shareOfModels) / (modelBytes * bytesPerByte)));
}

const availableMemory = (): number => Math.min(totalmem(), process.constrainedMemory() || Infinity);
