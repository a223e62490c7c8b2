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

/** What one that tells speakers apart takes for a window of 20 minutes, with CAM++. For 100 s it takes 370 MB. */
const diarizerBytes = 650_000_000;
const shareOfDiarizers = 0.25;

/** How many processes may tell speakers apart at once, at least one. */
export function diarizersThatFit(memoryBytes = availableMemory()): number {
  return Math.max(1, Math.floor((memoryBytes * shareOfDiarizers) / diarizerBytes));
}

const availableMemory = (): number => Math.min(totalmem(), process.constrainedMemory() || Infinity);
