import { segmentsFromTexts, segmentsFromUtterances } from '../../captions/segments.ts';
import { createSlots, chunksOf, recognizeInChunks } from '../in-chunks.ts';
import { ChunkNotTranscribed, RecognizerError } from '../recognizer.ts';
import { changesIn, withSpeakers } from './voices.ts';
import { createDiarization } from './diarization.ts';
import { howToInstall } from './known-models.ts';
import { primaryOf } from '../../languages/tags.ts';
import { wordsIn, languageIn } from './words.ts';
import { ModelCopies, copiesThatFit } from './model-copies.ts';
import { modelLanguageCode, readModelFolder } from './model-folder.ts';
import { spokenIn } from '../spoken.ts';
import { mostSpoken, nameSpeakers } from '../whole-recording.ts';
import { meanProgress, allOrAbort } from '../all-or-abort.ts';
import type { ChunkLengths } from '../../audio/chunks.ts';
import type { Slots } from '../in-chunks.ts';
import type { TranscribedChunk } from '../join.ts';
import type { ProcessChunk } from '../retry-gaps.ts';
import type { Recognizer } from '../recognizer.ts';
import type { DiarizationOptions } from './diarization.ts';
import type { OfflineResult } from 'sherpa-onnx-node';
import type { Complaint } from './messages.ts';
import type { ModelFamily } from './model-families.ts';
import type { SherpaModel } from './model-folder.ts';

/** Where words have times, neighbours hear a little of each other, and are joined between two words. */
function lengthsOf({ times, longestChunkMs = 28_000 }: ModelFamily): ChunkLengths {
  if (times === 'words') return { longestMs: 60_000, overlapMs: 1_000 };
  // Whisper takes 30 s at a time. The others are as good in it. Words without times don't cross a pause of 1.5 s.
  return { longestMs: longestChunkMs, overlapMs: 0, ...(times === 'none' && { longestPauseMs: 500 }) };
}

/**
 * Some models answer nothing to a chunk that is full of words, only because of where it begins. So what is recognized again has
 * silence at both ends: less than what Whisper has room for beside a chunk of 28 s, and more than a model looks at for one
 * token.
 */
const silenceMs = 500;

export interface SherpaOnnxOptions {
  /** Where the model's files are. */
  folder: string;
  /** The name of a model that `npm run model` knows. */
  name?: string;
  /** What the operator says is spoken. It is taken for the language of a model that tells none. */
  language?: string | undefined;
  /** Where the models that tell speakers apart are. They may be installed later. */
  diarization?: Pick<DiarizationOptions, 'folder' | 'threshold'>;
  /** How many processes run at once, if so many copies of the model fit into memory. */
  slots?: Slots;
  /** Wall-clock time for a chunk of that length, including the loading of the model. */
  timeLimitMs?: (durationMs: number) => number;
  /** How long a process with a loaded model is kept that has nothing to do. */
  idleMs?: number;
}

/**
 * sherpa-onnx (https://github.com/k2-fsa/sherpa-onnx) with a model of those families that `model-families.ts` lists, on
 * the CPU. Its processes keep the model between chunks and jobs.
 */
export function createSherpaOnnx(options: SherpaOnnxOptions): Recognizer {
  const { folder, name, slots = createSlots(), timeLimitMs = defaultTimeLimitMs, idleMs = defaultIdleMs } = options;
  const diarization = options.diarization && createDiarization({ ...options.diarization, slots, timeLimitMs, idleMs });
  const operatorsWord = options.language === undefined ? undefined : [primaryOf(options.language)];
  const load = async () => {
    const found = await readModelFolder(folder);
    const model = { ...found, languages: found.languages ?? operatorsWord };
    const most = Math.min(slots.count, copiesThatFit(model.bytes));
    return { model, copies: new ModelCopies(model, { timeLimitMs, idleMs, most }) };
  };
  let loading: ReturnType<typeof load> | undefined;
  // A failure is not remembered: the folder may be there for the next job.
  const loadOnce = () =>
    (loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    }));
  let hasRun = false;

  return {
    name: 'sherpa-onnx',
    async check(language) {
      await readModelFolder(folder).catch((cause: Error) => refuse(`${cause.message}. ${howToInstall(name)}`, cause));
      const { model, copies } = await loadOnce();
      modelLanguageCode(model, language);
      if (!hasRun) await copies.tryOut().catch((cause: Error) => refuse(doesNotRun(folder, model, cause), cause));
      hasRun = true;
      await diarization?.load();
    },

    languages: async () => (await loadOnce()).model.languages,

    async recognize(audio, { signal, span, onProgress, onUncertain, language: asked, speakers }) {
      const { model, copies } = await loadOnce();
      const { family } = model;
      const told = modelLanguageCode(model, asked);
      const diarize = await diarization?.load();
      const progressOf = meanProgress(diarize ? 2 : 1, onProgress);
      const findTurns = async (stop: AbortSignal) =>
        (await diarize?.(audio, { signal: stop, onProgress: progressOf(1), speakers })) ?? [];
      // Without word times, words can't be assigned to speakers. So each chunk has one speaker.
      const knownTurns = family.times === 'none' ? await findTurns(signal) : undefined;
      const changes = changesIn(knownTurns ?? []);
      const parted = { ...audio, changes };
      const lengths = lengthsOf(family);
      const share = copies.share(chunksOf(parted, lengths).length);
      const spoken: { language: string | undefined; text: string }[] = [];
      const recognizeChunk: ProcessChunk<TranscribedChunk> = async (chunk, stop, _span, earlier = 0) => {
        const { windowStartMs: fromMs, windowEndMs: toMs } = chunk;
        // A stretch without words in the session's language may be in another one.
        const language = earlier < 2 || family.unlessTold !== undefined ? told : undefined;
        const request = { file: audio.file, fromMs, toMs, language, silenceMs: earlier > 0 ? silenceMs : 0 };
        const result = await copies.ask(request, stop, share.threads);
        throwIfFailed(result);
        spoken.push({ language: languageIn(result), text: result.text });
        return { chunk, utterances: [wordsIn(result, chunk, family)] };
      };
      try {
        const [heard, turns] = await allOrAbort(signal, [
          (stop) =>
            recognizeInChunks(
              ...([parted, lengths, slots, recognizeChunk] as const),
              { signal: stop, span, onProgress: progressOf(0), onUncertain },
              family.times !== 'words',
            ),
          async (stop) => knownTurns ?? findTurns(stop),
        ]);
        const { durationMs } = audio;
        const segments =
          family.times === 'words'
            ? segmentsFromUtterances(heard.map((words) => withSpeakers(words, turns)), durationMs) // prettier-ignore
            : withSpeakers(
                segmentsFromTexts(withSpeakers(heard.flat(), turns), durationMs, (stretch) => spokenIn(audio, stretch)),
                turns,
              );
        const language =
          segments.length === 0
            ? undefined
            : (mostSpoken(spoken) ?? asked ?? family.unlessTold ?? only(model.languages));
        return { segments: nameSpeakers(segments), language };
      } finally {
        share.giveBack();
      }
    },

    async close() {
      const loaded = await loading?.catch(() => undefined);
      await Promise.all([loaded?.copies.close(), diarization?.close()]);
    },
  };
}

/** A model that knows one language hears that one. */
const only = (known: readonly string[] | undefined) => (known?.length === 1 ? known[0] : undefined);

/**
 * Where the runtime throws, sherpa-onnx writes "Caught exception" to standard error and answers an empty text
 * (`offline-recognizer-*-impl.h`), which looks like silence.
 * @throws {ChunkNotTranscribed}
 */
function throwIfFailed({ text, complaint }: OfflineResult & Complaint): void {
  if (text.trim() !== '' || !complaint.includes('Caught exception')) return;
  throw new ChunkNotTranscribed(`sherpa-onnx could not hear a chunk: ${complaint.replace(/\s+/g, ' ').slice(0, 500)}`);
}

const defaultIdleMs = 10 * 60_000;
const defaultTimeLimitMs = (durationMs: number) => 5 * 60_000 + 20 * durationMs;

function refuse(message: string, cause: Error): never {
  throw new RecognizerError('recognizer_error', `SHERPA_ONNX_MODEL: ${message}`, { retryable: true, cause });
}

const doesNotRun = (folder: string, { family }: SherpaModel, { message }: Error) =>
  `the model in ${folder} was taken for ${family.name}, and does not run: ${message}`;
