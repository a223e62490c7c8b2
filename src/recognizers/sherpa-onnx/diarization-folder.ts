import { readdir, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { NoModel } from './model-files.ts';
import type { OfflineSpeakerDiarizationConfig } from 'sherpa-onnx-node';

export interface DiarizationModel {
  config: OfflineSpeakerDiarizationConfig;
  /** Of both files. */
  bytes: number;
}

/** One model hears who speaks when within 10 s (pyannote segmentation), the other what a voice is like. */
const files = { segmentation: 'segmentation.onnx', embedding: 'embedding.onnx' } as const;

/** In seconds, the defaults of sherpa-onnx: shorter turns are dropped, and shorter pauses don't end a turn. */
const [minDurationOn, minDurationOff] = [0.3, 0.5];

/**
 * 1 less the cosine similarity: within a window, voices that differ more are two. sherpa-onnx compares the two stretches of
 * speech that differ most (complete linkage), so its default makes several voices of one speaker, which are joined
 * afterwards (`voices.ts`). What a larger number takes for one voice is never two again.
 */
export const defaultThreshold = 0.5;

/**
 * @param threshold see {@link defaultThreshold}
 * @returns undefined when there is no such folder
 * @throws {NoModel} the folder can't be read or lacks a file
 */
export async function readDiarizationFolder(folder: string, threshold: number): Promise<DiarizationModel | undefined> {
  const names = await readdir(folder).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined;
    throw new NoModel(`the folder ${folder} can not be read`, { cause });
  });
  if (names === undefined) return undefined;
  const missing = Object.values(files).find((name) => !names.includes(name));
  if (missing !== undefined) throw new NoModel(`${folder} holds no ${missing}`);
  const [segmentation, embedding] = [resolve(folder, files.segmentation), resolve(folder, files.embedding)];
  const sizes = await Promise.all([stat(segmentation), stat(embedding)]);
  const shared = { numThreads: 1, provider: 'cpu' } as const;
  return {
    config: {
      segmentation: { ...shared, pyannote: { model: segmentation } },
      embedding: { ...shared, model: embedding },
      clustering: { numClusters: -1, threshold },
      ...{ minDurationOn, minDurationOff },
    },
    bytes: sizes.reduce((sum, { size }) => sum + size, 0),
  };
}
