/** A server of RECOGNIZER=openai that can be away, and can refuse what it gets. */
import { refusal, startSpeechServer } from '../support/models/speech-server.ts';
import type { RunningSpeechServer } from '../support/models/speech-server.ts';

const heard = { status: 200, body: { text: 'fine', words: [{ word: 'fine', start: 0.1, end: 0.4 }] } };

export class SpeechServer {
  refuses = false;
  readonly #port: number;
  #server: RunningSpeechServer | undefined;

  constructor(port: number) {
    this.#port = port;
  }

  async start(): Promise<void> {
    const script = () => (this.refuses ? refusal(400, 'This recording is damaged.') : heard);
    this.#server = await startSpeechServer({ port: this.#port, script });
  }

  async close(): Promise<void> {
    await this.#server?.close();
    this.#server = undefined;
  }
}
