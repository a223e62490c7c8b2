/** A server for RECOGNIZER=openai that hears one word in everything it is sent. It can be held until a test lets it answer. */
import { atEnd } from '../at-end.ts';
import { startSpeechServer } from './speech-server.ts';
import type { Reply, SpeechServerOptions } from './speech-server.ts';

export const saysHello: Reply = {
  status: 200,
  body: { text: 'hello', words: [{ word: 'hello', start: 0, end: 0.2 }] },
};

export interface HelloServer {
  /** What makes a service ask it. */
  env: { RECOGNIZER: 'openai'; OPENAI_BASE_URL: string };
  /** Lets it answer, now and from now on. */
  go(): void;
}

/** @param script what it answers instead of its word */
export async function startHelloServer({
  held = false,
  script = () => undefined,
}: { held?: boolean; script?: NonNullable<SpeechServerOptions['script']> } = {}): Promise<HelloServer> {
  const { promise: mayAnswer, resolve: go } = Promise.withResolvers<void>();
  if (!held) go();
  const server = await startSpeechServer({
    script: async (request, earlier) => {
      await mayAnswer;
      return (await script(request, earlier)) ?? saysHello;
    },
  });
  atEnd(server.close);
  return { env: { RECOGNIZER: 'openai', OPENAI_BASE_URL: server.url }, go };
}
