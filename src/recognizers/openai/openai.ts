import { findLimiters, ExecutableNotFound, findExecutable } from '../../children/bounded-command.ts';
import { RecognizerError } from '../recognizer.ts';
import { FormatRefused, SpeechClient } from './client.ts';
import { recognizeIn } from './in-format.ts';
import { Requests } from './requests.ts';
import { isNear } from './sound.ts';
import type { AnswerFormat } from './client.ts';
import type { RecognizeOptions, Recognizer } from '../recognizer.ts';
import type { SpeechServer } from './exchange.ts';

/** Retries of one request. Without a Retry-After they are spread over 45 s. */
const defaultRetries = 8;

const checkTimeLimitMs = 5_000;
/** How often a server that is away is asked whether it is back, while somebody wants to know. */
const askAgainMs = 3_000;

export interface OpenAiOptions {
  server: SpeechServer;
  /** Requests at once, at most, over all jobs of the process. How many the server gets is found by trying. */
  mostRequests?: number;
  /** Whether it is on this machine or in its network. Without it, the address tells. */
  isNear?: boolean;
  retries?: number;
  /** Wall-clock time for a piece of that length, with all retries. */
  timeLimitMs?: (durationMs: number) => number;
}

/** Recognizes with a server that has OpenAI's `/audio/transcriptions`. The audio leaves this machine. */
export function createOpenAi(options: OpenAiOptions): Recognizer {
  const { server, mostRequests = 256, retries = defaultRetries, timeLimitMs = defaultTimeLimitMs } = options;
  const client = new SpeechClient(server, retries);
  const { isNear: near = isNear(server.baseUrl) } = options;
  const requests = new Requests(mostRequests, !near);
  const inUse = { client, requests, isNear: near, timeLimitMs };
  const bestFormat = server.model.endsWith('-diarize') ? 'diarized_json' : 'verbose_json';

  let askedAt = -Infinity;
  const isKeyRefused = () => {
    askedAt = performance.now();
    return client.refusesKey(AbortSignal.timeout(checkTimeLimitMs));
  };
  return {
    name: 'openai',
    notice() {
      const away = client.unreachable();
      if (away !== undefined && performance.now() - askedAt >= askAgainMs) void isKeyRefused();
      return away;
    },
    jobsAtOnce: () => requests.jobsAtOnce(),
    load: () => requests.load(),
    whyAway: async () => (client.away() === undefined ? undefined : client.look(checkTimeLimitMs)),
    // The service starts although the server is away: it may be there for the first job. The log tells if it is not.
    async check() {
      try {
        await findExecutable('ffmpeg');
        await findLimiters();
      } catch (cause) {
        if (!(cause instanceof ExecutableNotFound)) throw cause;
        throw new RecognizerError('recognizer_error', cause.message, { retryable: true, cause });
      }
      if (await isKeyRefused()) {
        const message = `${new URL(server.baseUrl).host} refuses the key. Set OPENAI_API_KEY to one of its keys.`;
        throw new RecognizerError('recognizer_error', message, { retryable: false });
      }
    },

    async recognize(audio, given) {
      const options = { ...given, onProgress: rising(given.onProgress) };
      const hearIn = async (format: AnswerFormat) => {
        const answersBefore = client.answers();
        try {
          return await recognizeIn(format, audio, options, inUse);
        } catch (error) {
          // A server that hangs is away. One that only took too long answers something.
          const isSilent = isTimeOut(error) && client.answers() === answersBefore;
          const away = isSilent ? await client.look(checkTimeLimitMs) : undefined;
          throw away === undefined ? error : new RecognizerError('recognizer_error', away.message, { retryable: true });
        }
      };
      const orIn = (format: AnswerFormat) => (error: unknown) => {
        if (!(error instanceof FormatRefused)) throw error;
        return hearIn(format);
      };
      return hearIn(bestFormat).catch(orIn('json')).catch(orIn('any'));
    },

    close: () => client.close(),
  };
}

const isTimeOut = (error: unknown) => error instanceof RecognizerError && error.code === 'timed_out';

/** So long that a server that is busy or away for a moment has time to come back. After that, the queue tries again. */
function defaultTimeLimitMs(durationMs: number): number {
  return 10 * 60_000 + 4 * durationMs;
}

/** Lets progress only rise: a recording that begins again in another format begins at 0. */
function rising(onProgress: RecognizeOptions['onProgress']): (percent: number) => void {
  let last = 0;
  return (percent) => {
    if (percent <= last) return;
    last = percent;
    onProgress?.(percent);
  };
}
