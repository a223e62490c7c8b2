import { ExecutableNotFound, findExecutable } from '../audio/executable.ts';
import { segmentsFromTexts, segmentsFromUtterances } from '../segments.ts';
import { createSlots, laterBy, recognizeInPieces } from './in-pieces.ts';
import { readAnswer } from './openai/answers.ts';
import { FormatRefused, createSpeechClient } from './openai/client.ts';
import { toFlac } from './openai/flac.ts';
import { RecognizerError } from './recognizer.ts';
import type { Piece, PieceLengths } from '../audio/pieces.ts';
import type { SpokenWord } from '../segments.ts';
import type { RecognizePiece, Slots } from './in-pieces.ts';
import type { Answer } from './openai/answers.ts';
import type { AnswerFormat, SpeechServer } from './openai/client.ts';
import type { DecodedAudio, RecognizeOptions, Recognizer, Transcript, Word } from './recognizer.ts';

/** Requests at once, over all jobs of a process: servers have room for that many, and more workers bring more. */
const requestsAtOnce = 4;

/** Of one request. Without a Retry-After they are spread over three quarters of a minute. */
const defaultRetries = 8;

const checkTimeLimitMs = 5_000;

const lengthsOf: Record<AnswerFormat, PieceLengths> = {
  verbose_json: { longestMs: 120_000, overlapMs: 1_000 },
  // Speakers are told apart within a piece only, so it is as long as servers allow: 25 MB whatever is in it, 10 minutes at vLLM.
  diarized_json: { longestMs: 590_000, overlapMs: 0 },
  // Without times, those of the piece are all that is known.
  json: { longestMs: 28_000, overlapMs: 0 },
};

export interface OpenAiOptions {
  server: SpeechServer;
  /** Requests at once. */
  slots?: Slots;
  retries?: number;
  /** Wall-clock time for a piece of that length, with all retries. */
  timeLimitMs?: (durationMs: number) => number;
}

/** What this process has learnt about the server, so that it asks for nothing twice that the server doesn't have. */
interface Learnt {
  /** What it has not refused, the best first. */
  formats: AnswerFormat[];
  /** Whether it says when it heard which word; undefined until it has said something. */
  wordTimes: boolean | undefined;
}

/** Any server with OpenAI's `/audio/transcriptions`: the audio leaves this machine. */
export function createOpenAi(options: OpenAiOptions): Recognizer {
  const { server, slots = createSlots(requestsAtOnce), retries = defaultRetries } = options;
  const { timeLimitMs = defaultTimeLimitMs } = options;
  const client = createSpeechClient(server, retries);
  const diarizes = server.model.endsWith('-diarize');
  const learnt: Learnt = { formats: [diarizes ? 'diarized_json' : 'verbose_json', 'json'], wordTimes: undefined };

  async function hear(file: string, piece: Piece, format: AnswerFormat, signal: AbortSignal): Promise<Answer> {
    const deadline = AbortSignal.timeout(timeLimitMs(piece.heardToMs - piece.heardFromMs));
    const stop = AbortSignal.any([signal, deadline]);
    try {
      const audio = await toFlac(file, piece, stop);
      if (audio === undefined) return { timesOf: 'nothing', utterances: [], language: undefined };
      return readAnswer(await client.transcribe(audio, format, stop), piece.heardToMs - piece.heardFromMs);
    } catch (cause) {
      signal.throwIfAborted();
      if (deadline.aborted) throw new RecognizerError('timed_out', 'the server took too long', { retryable: true });
      if (cause instanceof RecognizerError) throw cause;
      throw new RecognizerError('recognizer_error', (cause as Error).message, { retryable: true, cause });
    }
  }

  /** Again without what it shares with its neighbours, where words in that would be there twice. */
  async function hearOnce(file: string, piece: Piece, format: AnswerFormat, signal: AbortSignal) {
    const own = { ...piece, heardFromMs: piece.startMs, heardToMs: piece.endMs };
    const heard = learnt.wordTimes === false ? own : piece;
    const answer = await hear(file, heard, format, signal);
    if (answer.timesOf === 'nothing' || format !== 'verbose_json') return { answer, heard };
    if (answer.timesOf === 'text' && learnt.wordTimes === undefined) throw new FormatRefused('it has no times');
    learnt.wordTimes ??= answer.timesOf === 'words';
    const isShared = heard.heardFromMs < piece.startMs || heard.heardToMs > piece.endMs;
    if (answer.timesOf === 'words' || !isShared) return { answer, heard };
    return { answer: await hear(file, own, format, signal), heard: own };
  }

  async function recognizeIn(
    format: AnswerFormat,
    audio: DecodedAudio,
    options: RecognizeOptions,
  ): Promise<Transcript> {
    let hasWordTimes = true;
    const languages = new Map<string, number>();
    const speakers = new Map<Word, string>();
    const recognizePiece: RecognizePiece = async (piece, signal) => {
      const { answer, heard } = await hearOnce(audio.file, piece, format, signal);
      if (answer.timesOf === 'segments' || answer.timesOf === 'text') hasWordTimes = false;
      return answer.utterances.map((words) =>
        words.map(({ speaker, ...spoken }) => {
          const word = laterBy(heard.heardFromMs, spoken);
          if (speaker !== undefined) speakers.set(word, speaker);
          if (answer.language !== undefined) {
            languages.set(answer.language, (languages.get(answer.language) ?? 0) + word.text.length);
          }
          return word;
        }),
      );
    };
    const lengths = lengthsOf[format];
    const heard = await recognizeInPieces(audio, lengths, slots, recognizePiece, options);
    // Who is `A` in one piece may be `B` in the next.
    const isWhole = audio.durationMs <= lengths.longestMs;
    const spoken = heard.map((words) => (isWhole ? withSpeakers(words, speakers) : words));
    const segments = segmentsFromUtterances(spoken, audio.durationMs);
    const language = [...languages].sort(([, a], [, b]) => b - a)[0]?.[0];
    return {
      segments: hasWordTimes ? segments : segmentsFromTexts(segments, audio.durationMs),
      ...(language !== undefined && { language }),
    };
  }

  return {
    name: 'openai',
    // A server that is away is no reason not to start: it may be there for the first job, and the log says so if not.
    async check() {
      try {
        for (const name of ['ffmpeg', 'prlimit', 'setpriv']) await findExecutable(name);
      } catch (cause) {
        if (!(cause instanceof ExecutableNotFound)) throw cause;
        throw new RecognizerError('recognizer_error', cause.message, { retryable: true, cause });
      }
      if (await client.refusesKey(AbortSignal.timeout(checkTimeLimitMs))) {
        const message = `${new URL(server.baseUrl).host} refuses the key. Set OPENAI_API_KEY to one of its keys.`;
        throw new RecognizerError('recognizer_error', message, { retryable: false });
      }
    },

    async recognize(audio, { signal, onProgress }) {
      const onRise = rising(onProgress);
      for (;;) {
        const format = learnt.formats[0]!;
        try {
          return await recognizeIn(format, audio, { signal, onProgress: onRise });
        } catch (error) {
          if (!(error instanceof FormatRefused) || format === learnt.formats.at(-1)) throw error;
          learnt.formats = learnt.formats.filter((other) => other !== format);
        }
      }
    },

    close: () => client.close(),
  };
}

/** A server that is busy, or away for a moment, has time to come back; the queue tries again after that. */
function defaultTimeLimitMs(durationMs: number): number {
  return 10 * 60_000 + 4 * durationMs;
}

/** A recording that is begun again, in another format, begins at 0. */
function rising(onProgress: RecognizeOptions['onProgress']): (percent: number) => void {
  let last = 0;
  return (percent) => {
    if (percent <= last) return;
    last = percent;
    onProgress?.(percent);
  };
}

/** `S1`, `S2`, … for the server's names, in the order in which they first speak. */
function withSpeakers(words: readonly Word[], speakers: ReadonlyMap<Word, string>): SpokenWord[] {
  const names = [...new Set(speakers.values())];
  return words.map((word) => {
    const name = speakers.get(word);
    return name === undefined ? word : { ...word, speaker: `S${names.indexOf(name) + 1}` };
  });
}
