/** A server of RECOGNIZER=openai that can refuse what it gets. */
import { setTimeout as sleep } from 'node:timers/promises';
import { refusal, startSpeechServer } from '../support/models/speech-server.ts';

const heard = { status: 200, body: { text: 'fine', words: [{ word: 'fine', start: 0.1, end: 0.4 }] } };

export interface Speech {
  refuses: boolean;
  hasRoom: boolean;
  /** How long an answer takes. */
  ms: number;
  /** For `OPENAI_BASE_URL`. */
  url: string;
  close(): Promise<void>;
}

export async function startSpeech(): Promise<Speech> {
  const script = async () => {
    if (!speech.hasRoom) return refusal(429, 'Too many requests.');
    await sleep(speech.ms);
    return speech.refuses ? refusal(400, 'This recording is damaged.') : heard;
  };
  const { url, close } = await startSpeechServer({ script });
  const speech = { refuses: false, hasRoom: true, ms: 20, url, close };
  return speech;
}
