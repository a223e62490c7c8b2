export interface SpeechServer {
  /** Up to `/audio/transcriptions`, such as `https://api.openai.com/v1`. */
  baseUrl: string;
  /** Servers of one's own often need none. */
  apiKey: string | undefined;
  model: string;
}
