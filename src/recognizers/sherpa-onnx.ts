import { ExecutableNotFound } from '../audio/executable.ts';
import { segmentsFromTexts, segmentsFromUtterances } from '../segments.ts';
import { createSlots, recognizeInPieces } from './in-pieces.ts';
import { RecognizerError } from './recognizer.ts';
import { readModelFolder } from './sherpa-onnx/model-folder.ts';
import { WarmChildren } from './sherpa-onnx/warm-children.ts';
import { wordsOf } from './sherpa-onnx/words.ts';
import type { Piece, PieceLengths } from '../audio/pieces.ts';
import type { RecognizePiece, Slots } from './in-pieces.ts';
import type { Recognizer, Word } from './recognizer.ts';
import type { SherpaModel } from './sherpa-onnx/model-folder.ts';

/** Whisper hears 30 s at a time, and neither of these says when it heard which word. */
const withoutTimes: PieceLengths = { longestMs: 28_000, overlapMs: 0 };
const withTimes: PieceLengths = { longestMs: 60_000, overlapMs: 1_000 };
const lengthsOf: Record<SherpaModel['kind'], PieceLengths> = {
  whisper: withoutTimes,
  moonshine: withoutTimes,
  transducer: withTimes,
  'sense-voice': withTimes,
};

/** Node, the addon and what recognition of a piece takes, beside the model. */
const memoryBesideModel = 4 * 1024 ** 3;

export interface SherpaOnnxOptions {
  /** Where the model's files are. */
  folder: string;
  /** Processes at once; each loads the model. */
  slots?: Slots;
  /** Wall-clock time for a piece of that length, loading the model included. */
  timeLimitMs?: (durationMs: number) => number;
}

/**
 * sherpa-onnx (https://github.com/k2-fsa/sherpa-onnx) with a Whisper, Parakeet, Moonshine or SenseVoice model, on the CPU,
 * in processes that keep the model between pieces and jobs.
 */
export function createSherpaOnnx({ folder, slots = createSlots(), timeLimitMs }: SherpaOnnxOptions): Recognizer {
  const limitOf = timeLimitMs ?? ((durationMs: number) => 5 * 60_000 + 20 * durationMs);
  let loading: Promise<{ model: SherpaModel; children: WarmChildren }> | undefined;
  const load = async () => {
    const model = await readModelFolder(folder);
    return { model, children: new WarmChildren(model.config, memoryBesideModel + 4 * model.bytes) };
  };
  // One that failed is forgotten: the folder may be there for the next job.
  const loadOnce = () =>
    (loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    }));

  return {
    name: 'sherpa-onnx',
    async check() {
      await readModelFolder(folder).catch((cause: Error) => {
        const message = `SHERPA_ONNX_MODEL: ${cause.message}. Name the folder of a model for sherpa-onnx.`;
        throw new RecognizerError('recognizer_error', message, { retryable: true, cause });
      });
    },

    async recognize(audio, options) {
      const { model, children } = await loadOnce();
      const languages = new Map<string, number>();
      const recognizePiece: RecognizePiece = async (piece, signal) => {
        const { heardFromMs: fromMs, heardToMs: toMs } = piece;
        const result = await children
          .recognize({ file: audio.file, fromMs, toMs }, limitOf(toMs - fromMs), signal)
          .catch((error: unknown) => {
            if (!(error instanceof ExecutableNotFound)) throw error;
            throw new RecognizerError('recognizer_error', error.message, { retryable: true, cause: error });
          });
        const language = /^(<\|)?([a-z]{2,3})(\|>)?$/.exec(result.lang)?.[2];
        if (language !== undefined) languages.set(language, (languages.get(language) ?? 0) + result.text.length);
        return [lengthsOf[model.kind] === withTimes ? wordsOf(result, fromMs, toMs) : wholeText(result.text, piece)];
      };
      const lengths = lengthsOf[model.kind];
      const heard = await recognizeInPieces(audio, lengths, slots, recognizePiece, options);
      const segments =
        lengths === withTimes
          ? segmentsFromUtterances(heard, audio.durationMs)
          : segmentsFromTexts(heard.flat(), audio.durationMs);
      const language = [...languages].sort(([, a], [, b]) => b - a)[0]?.[0];
      return { segments, ...(language !== undefined && segments.length > 0 && { language }) };
    },

    async close() {
      const loaded = await loading?.catch(() => undefined);
      await loaded?.children.close();
    },
  };
}

function wholeText(text: string, { startMs, endMs }: Piece): Word[] {
  return text.trim() === '' ? [] : [{ text: text.trim(), startMs, endMs }];
}
