export interface SpeechServer {
  /** Up to `/audio/transcriptions`, such as `https://api.openai.com/v1`. */
  baseUrl: string;
  /** Servers of your own often need none. */
  apiKey: string | undefined;
  model: string;
}
