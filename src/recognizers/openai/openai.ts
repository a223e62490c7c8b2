import { rising } from '../all-or-abort.ts';
import { RecognizerError } from '../recognizer.ts';
import { FormatRefused, SpeechClient } from './client.ts';
import { recognizeIn } from './in-format.ts';
import type { AnswerFormat, ClientOptions } from './client.ts';
import type { Recognizer } from '../recognizer.ts';

/** Recognizes with a server that has OpenAI's `/audio/transcriptions`. The audio leaves this machine. */
export function createOpenAi(options: ClientOptions): Recognizer {
  const { server } = options;
  const client = new SpeechClient(options);
  const bestFormat = server.model.endsWith('-diarize') ? 'diarized_json' : 'verbose_json';
  return {
    name: 'openai',
    notice: () => client.awayLately()?.message,
    jobsAtOnce: () => client.requests.jobsAtOnce(),
    load: () => client.requests.load(),
    onBusy: (tell) => void (client.onBusy = tell),
    whyAway: async () => {
      const away = client.away();
      // Where it has no room, it is asked already.
      return away === undefined || away.reason === 'busy' ? away : client.look();
    },
    // The service starts although the server is away: it may be there for the first job. The log tells if it is not.
    async check() {
      if (await client.refusesKey()) {
        const message = `${new URL(server.baseUrl).host} refuses the key. Set OPENAI_API_KEY to one of its keys.`;
        throw new RecognizerError('recognizer_error', message, { retryable: false });
      }
    },

    async recognize(audio, given) {
      const options = { ...given, onProgress: rising(given.onProgress) };
      const hearIn = (format: AnswerFormat) => recognizeIn(format, audio, options, client);
      const orIn = (format: AnswerFormat) => (error: unknown) => {
        if (!(error instanceof FormatRefused)) throw error;
        return hearIn(format);
      };
      return hearIn(bestFormat).catch(orIn('json')).catch(orIn('any'));
    },

    close: () => client.close(),
  };
}
