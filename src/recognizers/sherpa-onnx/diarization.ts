import { createSlots, processInPieces } from '../in-pieces.ts';
import { RecognizerError } from '../recognizer.ts';
import { diarizersThatFit } from './copies-that-fit.ts';
import { defaultThreshold, readDiarizationFolder } from './diarization-folder.ts';
import { joinWindows } from './diarization-windows.ts';
import { howToInstall } from './installed-models.ts';
import { WarmChildren } from './warm-children.ts';
import type { Piece } from '../../audio/pieces.ts';
import type { Slots } from '../in-pieces.ts';
import type { DecodedAudio, RecognizeOptions } from '../recognizer.ts';
import type { Turn } from './diarization-windows.ts';
import type { WindowResult } from './messages.ts';

/**
 * sherpa-onnx takes all samples at once, four bytes each, and compares each second of speech with every other second.
 * Ten hours would take 2.3 GB for samples, and more for comparisons.
 */
const longestWindowMs = 20 * 60_000;

/**
 * So that all cores work on one recording, it has as many windows as can be heard at once, but none shorter than this. In five
 * meetings of six minutes, 4.8 % of the speech went to the wrong person with two windows, and 4.6 % with one.
 */
const shortestWindowMs = 150_000;

/**
 * Address space for Node, the addon and the diarization of a window, besides the models. With CAM++, it was 2.3 GiB for a
 * window of 20 minutes, and 2.0 GiB for one of 100 s.
 */
const memoryBesideModels = 3 * 1024 ** 3;

export interface DiarizationOptions {
  /** The folder of `segmentation.onnx` and `embedding.onnx`. Without it, no speakers are told apart. */
  folder: string;
  /** How different two voices are at least, where nobody says how many people speak; see {@link defaultThreshold}. */
  threshold?: number;
  slots: Slots;
  /** Wall-clock time for a window of that length, including the loading of the models. */
  timeLimitMs: (durationMs: number) => number;
  /** How long a process with loaded models is kept that has nothing to do. */
  idleMs: number;
  windowMs?: number;
}

/**
 * Finds out who speaks when.
 * @returns in order of time
 * @throws {RecognizerError} the message names the folder
 * @throws the abort reason of `options.signal`
 */
export type FindTurns = (audio: DecodedAudio, options: RecognizeOptions) => Promise<Turn[]>;

/** sherpa-onnx's speaker diarization. Its processes keep the models between windows and jobs. */
export interface Diarization {
  /**
   * Looks for the models at each recording, because they may be installed while the service runs.
   * @returns undefined when there is no such folder
   * @throws {RecognizerError} the folder is there, but lacks a file
   */
  load(): Promise<FindTurns | undefined>;
  close(): Promise<void>;
}

export function createDiarization(options: DiarizationOptions): Diarization {
  const { folder, threshold = defaultThreshold, slots, timeLimitMs, idleMs, windowMs = longestWindowMs } = options;
  const processes = createSlots(Math.min(slots.count, diarizersThatFit()));
  let loaded: WarmChildren<WindowResult> | undefined;
  const models = () =>
    readDiarizationFolder(folder, threshold).catch((cause: Error) => {
      const message = `Speakers can not be told apart: ${cause.message}. ${howToInstall('diarization')}`;
      throw new RecognizerError('recognizer_error', message, { retryable: true, cause });
    });
  const explained = (cause: unknown): never => {
    if (!(cause instanceof RecognizerError)) throw cause;
    const message = `diarization with the models in ${folder}: ${cause.message}`;
    throw new RecognizerError(cause.code, message, { retryable: cause.retryable, cause });
  };

  return {
    async load() {
      const found = await models();
      if (found === undefined) return undefined;
      const children = (loaded ??= new WarmChildren<WindowResult>(
        () => ({ diarization: found.config }),
        memoryBesideModels + 4 * found.bytes,
        idleMs,
        processes.count,
      ));
      return async (recording, recognizeOptions) => {
        // Windows that are cut where nobody speaks would make strangers of speakers.
        const { speech, ...audio } = recording;
        if (speech?.length === 0) return [];
        const evenly = { atOnce: processes.count, shortestMs: shortestWindowMs };
        const hear = ({ windowStartMs: fromMs, windowEndMs: toMs }: Piece, stop: AbortSignal) => {
          const ask = () => children.ask({ file: audio.file, fromMs, toMs }, timeLimitMs(toMs - fromMs), stop);
          return processes.run(ask, stop).catch(explained);
        };
        return joinWindows(
          await processInPieces(audio, { longestMs: windowMs, overlapMs: 0, evenly }, slots, hear, recognizeOptions),
          recognizeOptions.speakers,
        );
      };
    },
    close: async () => loaded?.close(),
  };
}
