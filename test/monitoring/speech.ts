/** A server of RECOGNIZER=openai that can refuse what it gets. */
import { refusal, startSpeechServer } from '../support/models/speech-server.ts';

const heard = { status: 200, body: { text: 'fine', words: [{ word: 'fine', start: 0.1, end: 0.4 }] } };

export interface Speech {
  refuses: boolean;
  /** For `OPENAI_BASE_URL`. */
  url: string;
  close(): Promise<void>;
}

export async function startSpeech(): Promise<Speech> {
  const script = () => (speech.refuses ? refusal(400, 'This recording is damaged.') : heard);
  const { url, close } = await startSpeechServer({ script });
  const speech = { refuses: false, url, close };
  return speech;
}
