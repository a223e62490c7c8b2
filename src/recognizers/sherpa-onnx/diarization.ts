import { readdir, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { chunksOf, processChunks } from '../in-chunks.ts';
import { RecognizerError } from '../recognizer.ts';
import { joinWindows } from './voices.ts';
import { NoModel } from './model-folder.ts';
import { howToInstall } from './known-models.ts';
import { ModelProcessPool, processesThatFit } from './model-process-pool.ts';
import type { Chunk } from '../../audio/chunks.ts';
import type { Slots } from '../in-chunks.ts';
import type { DecodedAudio, RecognizeOptions } from '../recognizer.ts';
import type { Turn } from './voices.ts';
import type { WindowResult } from './messages.ts';

/**
 * sherpa-onnx takes all samples at once, four bytes each, and compares each second of speech with every other second.
 * Ten hours would take 2.3 GB for samples, and more for comparisons.
 */
const longestWindowMs = 20 * 60_000;

/**
 * So that all cores work on one recording, it has as many windows as can be recognized at once, but none shorter than this. In five
 * meetings of six minutes, 4.8 % of the speech went to the wrong person with two windows, and 4.6 % with one.
 */
const shortestWindowMs = 150_000;

/**
 * Address space for Node, the addon and the diarization of a window, besides the models. With CAM++, it was 2.3 GiB for a
 * window of 20 minutes, and 2.0 GiB for one of 100 s.
 */
const memoryBesideModels = 3 * 1024 ** 3;

/** What a process takes for a window of 20 minutes, with CAM++. For 100 s it takes 370 MB. */
const bytesOfDiarizer = 650_000_000;
export const diarizersThatFit = (memoryBytes?: number) => processesThatFit(bytesOfDiarizer, 0.25, memoryBytes);

/** One model hears who speaks when within 10 s (pyannote segmentation), the other what a voice is like. */
const files = { segmentation: 'segmentation.onnx', embedding: 'embedding.onnx' } as const;

/** In seconds, the defaults of sherpa-onnx: shorter turns are dropped, and shorter pauses don't end a turn. */
const [minDurationOn, minDurationOff] = [0.3, 0.5];

/**
 * 1 less the cosine similarity: within a window, voices that differ more are two. sherpa-onnx compares the two stretches of
 * speech that differ most (complete linkage), so its default makes several voices of one speaker, which are joined
 * afterwards (`voices.ts`). What a larger number takes for one voice is never two again.
 */
const defaultThreshold = 0.5;

/**
 * @param threshold see {@link defaultThreshold}
 * @returns its `bytes` are those of both files; undefined when there is no such folder
 * @throws {NoModel} the folder can't be read or lacks a file
 */
async function readDiarizationFolder(folder: string, threshold: number) {
  const found = await readdir(folder).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined;
    throw new NoModel(`the folder ${folder} can not be read`, { cause });
  });
  const missing = Object.values(files).find((name) => found?.includes(name) === false);
  if (missing !== undefined) throw new NoModel(`${folder} holds no ${missing}`);
  if (found === undefined) return undefined;
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

export interface DiarizationOptions {
  /** The folder of `segmentation.onnx` and `embedding.onnx`. Without it, no speakers are told apart. */
  folder: string;
  /** How different two voices are at least, where the number of speakers is not given; see {@link defaultThreshold}. */
  threshold?: number;
  slots: Slots;
  /** Wall-clock time for a window of that length, including the loading of the models. */
  timeLimitMs: (durationMs: number) => number;
  /** How long a process with loaded models is kept that has nothing to do. */
  idleMs: number;
}

/**
 * Finds out who speaks when.
 * @returns in order of time
 * @throws {RecognizerError} the message names the folder
 * @throws the abort reason of `options.signal`
 */
export type FindTurns = (audio: DecodedAudio, options: RecognizeOptions) => Promise<Turn[]>;

/** sherpa-onnx's speaker diarization. Its processes keep the models between windows and jobs. */
export function createDiarization(options: DiarizationOptions) {
  const { folder, threshold = defaultThreshold, slots, timeLimitMs, idleMs } = options;
  const most = Math.min(slots.count, diarizersThatFit());
  let loaded: ModelProcessPool<WindowResult> | undefined;
  const models = () =>
    readDiarizationFolder(folder, threshold).catch((cause: Error) => {
      const message = `Speakers can not be told apart: ${cause.message}. ${howToInstall('diarization')}`;
      throw new RecognizerError('recognizer_error', message, { retryable: true, cause });
    });
  const explain = (message: string) => `diarization with the models in ${folder}: ${message}`;

  return {
    /**
     * Looks for the models at each recording, because they may be installed while the service runs.
     * @returns undefined when there is no such folder
     * @throws {RecognizerError} the folder is there, but lacks a file
     */
    async load(): Promise<FindTurns | undefined> {
      const found = await models();
      if (found === undefined) return undefined;
      const memoryBytes = memoryBesideModels + 4 * found.bytes;
      const limits = { memoryBytes, idleMs, timeLimitMs, most, explain };
      const children = (loaded ??= new ModelProcessPool<WindowResult>(() => ({ diarization: found.config }), limits));
      return async (recording, recognizeOptions) => {
        // Windows cut in silence would split speakers.
        const { speech, ...audio } = recording;
        if (speech?.length === 0) return [];
        const evenly = { atOnce: most, shortestMs: shortestWindowMs };
        const processWindow = ({ windowStartMs: fromMs, windowEndMs: toMs }: Chunk, stop: AbortSignal) =>
          children.ask({ file: audio.file, fromMs, toMs }, stop);
        const windows = chunksOf(audio, { longestMs: longestWindowMs, overlapMs: 0, evenly });
        return joinWindows(
          await processChunks(windows, slots, processWindow, recognizeOptions),
          recognizeOptions.speakers,
        );
      };
    },
    close: async () => loaded?.close(),
  };
}
