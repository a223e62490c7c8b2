import { totalmem } from 'node:os';

/** Loaded, and at work, a model takes about twice its size on disk. */
const bytesPerByte = 2;
/** The rest is for PostgreSQL, the API, ffmpeg and the models that tell speakers apart. */
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
