import { segmentsFromTexts, segmentsFromUtterances } from '../../captions/segments.ts';
import { createSlots, recognizeInPieces } from '../in-pieces.ts';
import { RecognizerError } from '../recognizer.ts';
import { createDiarization } from './diarization.ts';
import { howToInstall } from './installed-models.ts';
import { copiesThatFit } from './copies-that-fit.ts';
import { canonicalTag, primaryOf } from '../../languages.ts';
import { readModelFolder } from './model-folder.ts';
import { languagesOf, toldTo } from './model-languages.ts';
import { nameSpeakers, withSpeakers } from './speakers.ts';
import { WarmChildren } from './warm-children.ts';
import { wordsOf } from './words.ts';
import { meanProgress, together } from '../together.ts';
import type { Piece, PieceLengths } from '../../audio/pieces.ts';
import type { RecognizePiece, Slots } from '../in-pieces.ts';
import type { Recognizer, Word } from '../recognizer.ts';
import type { DiarizationOptions } from './diarization.ts';
import type { PieceResult } from './messages.ts';
import type { SherpaModel } from './model-folder.ts';

/** Whisper hears 30 s at a time, and none of these models says when it heard which word. */
const withoutTimes: PieceLengths = { longestMs: 28_000, overlapMs: 0 };
const withTimes: PieceLengths = { longestMs: 60_000, overlapMs: 1_000 };
const lengthsOf: Record<SherpaModel['kind'], PieceLengths> = {
  whisper: withoutTimes,
  moonshine: withoutTimes,
  transducer: withTimes,
  'sense-voice': withTimes,
};

/** Memory for Node, the addon and the recognition of a piece, besides the model. */
const memoryBesideModel = 4 * 1024 ** 3;

export interface SherpaOnnxOptions {
  /** Where the model's files are. */
  folder: string;
  /** The name of a model that `npm run model` knows. */
  name?: string;
  /** What the operator says is spoken. It is taken for the language of a model that tells none. */
  language?: string | undefined;
  /** Where the models that tell speakers apart are. They may be installed later. */
  diarization?: Pick<DiarizationOptions, 'folder' | 'windowMs'>;
  /** How many processes run at once, if so many copies of the model fit into memory. */
  slots?: Slots;
  /** Wall-clock time for a piece of that length, including the loading of the model. */
  timeLimitMs?: (durationMs: number) => number;
  /** How long a process with a loaded model is kept that has nothing to do. */
  idleMs?: number;
}

/**
 * sherpa-onnx (https://github.com/k2-fsa/sherpa-onnx) with a Whisper, Parakeet, Moonshine or SenseVoice model, on the
 * CPU. Its processes keep the model between pieces and jobs.
 */
export function createSherpaOnnx(options: SherpaOnnxOptions): Recognizer {
  const { folder, name, slots = createSlots(), timeLimitMs = defaultTimeLimitMs, idleMs = defaultIdleMs } = options;
  const diarization = options.diarization && createDiarization({ ...options.diarization, slots, timeLimitMs, idleMs });
  let loading: ReturnType<typeof load> | undefined;
  const operatorsWord = options.language === undefined ? undefined : [primaryOf(options.language)];
  const readModel = async () => {
    const model = await readModelFolder(folder);
    return { model, known: languagesOf(model, folder) ?? operatorsWord };
  };
  const load = async () => {
    const { model, known } = await readModel();
    const memoryBytes = memoryBesideModel + 4 * model.bytes;
    const copies = createSlots(Math.min(slots.count, copiesThatFit(model.bytes)));
    const children = new WarmChildren<PieceResult>({ recognition: model.config }, memoryBytes, idleMs);
    return { model, known, copies, children };
  };
  // A failure is not remembered: the folder may be there for the next job.
  const loadOnce = () =>
    (loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    }));

  return {
    name: 'sherpa-onnx',
    async check(language) {
      const { model, known } = await readModel().catch((cause: Error) => {
        const message = `SHERPA_ONNX_MODEL: ${cause.message}. ${howToInstall(name)}`;
        throw new RecognizerError('recognizer_error', message, { retryable: true, cause });
      });
      toldTo(model, known, language);
      await diarization?.load();
    },

    async recognize(audio, { signal, onProgress, language: asked, speakers }) {
      const { model, known, copies, children } = await loadOnce();
      const told = toldTo(model, known, asked);
      const diarize = await diarization?.load();
      const languages = new Map<string, number>();
      const recognizePiece: RecognizePiece = async (piece, stop) => {
        const { heardFromMs: fromMs, heardToMs: toMs } = piece;
        const ask = () =>
          children.ask({ file: audio.file, fromMs, toMs, language: told }, timeLimitMs(toMs - fromMs), stop);
        const result = await copies.run(ask, stop);
        const language = /^(<\|)?([a-z]{2,3})(\|>)?$/.exec(result.lang)?.[2];
        if (language !== undefined) languages.set(language, (languages.get(language) ?? 0) + result.text.length);
        return [lengthsOf[model.kind] === withTimes ? wordsOf(result, fromMs, toMs) : wholeText(result.text, piece)];
      };
      const lengths = lengthsOf[model.kind];
      const progressOf = meanProgress(diarize ? 2 : 1, onProgress);
      const [heard, turns] = await together(signal, [
        (stop) => recognizeInPieces(audio, lengths, slots, recognizePiece, { signal: stop, onProgress: progressOf(0) }),
        async (stop) => (await diarize?.(audio, { signal: stop, onProgress: progressOf(1), speakers })) ?? [],
      ]);
      const segments =
        lengths === withTimes
          ? segmentsFromUtterances(
              heard.map((words) => withSpeakers(words, turns)),
              audio.durationMs,
            )
          : withSpeakers(segmentsFromTexts(heard.flat(), audio.durationMs), turns);
      const found = [...languages].sort(([, a], [, b]) => b - a)[0]?.[0];
      const language = found === undefined ? asked : canonicalTag(found);
      return { segments: nameSpeakers(segments), ...(language !== undefined && segments.length > 0 && { language }) };
    },

    async close() {
      const loaded = await loading?.catch(() => undefined);
      await Promise.all([loaded?.children.close(), diarization?.close()]);
    },
  };
}

const defaultIdleMs = 10 * 60_000;
const defaultTimeLimitMs = (durationMs: number) => 5 * 60_000 + 20 * durationMs;

function wholeText(text: string, { startMs, endMs }: Piece): Word[] {
  return text.trim() === '' ? [] : [{ text: text.trim(), startMs, endMs }];
}
