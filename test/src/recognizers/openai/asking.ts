/** A speech server by a script, a recognizer that asks it, and what they talk about. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createOpenAi } from '../../../../src/recognizers/openai/openai.ts';
import { asRecognizerInput, ffmpeg, sine } from '../../../support/uploads/audio-fixtures.ts';
import { startSpeechServer } from '../../../support/models/speech-server.ts';
import { useFolder } from '../../../support/use-folder.ts';
import type { ClientOptions } from '../../../../src/recognizers/openai/client.ts';
import type { DecodedAudio, RecognizeOptions } from '../../../../src/recognizers/recognizer.ts';
import type { Received, Reply, SpeechServerOptions } from '../../../support/models/speech-server.ts';

export const apiKey = 'sk-proj-0123456789abcdefSECRET';
export const fine: Reply = { status: 200, body: { text: 'fine', words: [{ word: 'fine', start: 0.1, end: 0.4 }] } };
export const { signal } = new AbortController();

/** Answers one after the other, the last one again and again. */
export const inTurn =
  (...replies: Reply[]) =>
  (_: Received, earlier: number): Reply =>
    replies[Math.min(earlier, replies.length - 1)]!;

export const formatOf = ({ fields }: Received): string | undefined => fields['response_format']?.[0];
export const isSilence = ({ file }: Received): boolean => file?.name === 'silence.wav';

export interface AskingOptions extends Partial<ClientOptions>, Pick<SpeechServerOptions, 'port'> {
  model?: string;
  apiKey?: string | undefined;
  /** Of the server. */
  path?: string;
}

/** For the tests of a file. Whatever went wrong, no file is left beside the decoded audio after any of them. */
export function useAsking() {
  const folder = useFolder();
  const closing: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    await Promise.all(closing.splice(0).map((each) => each.close()));
    expect((await readdir(folder)).filter((name) => !name.endsWith('.decoded'))).toEqual([]);
  });
  const files = new Map<number, Promise<string>>();
  const sound = async (seconds: number): Promise<DecodedAudio> => {
    const made = () => ffmpeg(...sine(seconds), ...asRecognizerInput, join(folder, `${seconds}.decoded`));
    if (!files.has(seconds)) files.set(seconds, made());
    return { file: await files.get(seconds)!, durationMs: seconds * 1000, silences: [] };
  };
  return {
    /** What is closed after the test. */
    closing,
    sound,
    async ask(script: NonNullable<SpeechServerOptions['script']>, options: AskingOptions = {}) {
      const { model = 'whisper-1', path = '/v1', port, ...others } = options;
      const key = 'apiKey' in options ? options.apiKey : apiKey;
      const server = await startSpeechServer({ script, ...(port !== undefined && { port }) });
      const spoken = { baseUrl: server.url.replace('/v1', path), apiKey: key, model };
      const recognizer = createOpenAi({ server: spoken, ...others });
      closing.push(recognizer, server);
      /** @param seconds that sound */
      const hear = async (seconds = 2, options: Partial<RecognizeOptions> = {}) =>
        recognizer.recognize(await sound(seconds), { signal, ...options });
      return { server, recognizer, hear, host: new URL(server.url).host };
    },
  };
}
