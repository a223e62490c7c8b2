import type { Proxies } from '../proxies.ts';

export interface SpeechServer {
  /** Up to `/audio/transcriptions`, such as `https://api.openai.com/v1`. */
  baseUrl: string;
  /** Servers of your own often need none. */
  apiKey: string | undefined;
  model: string;
  /** On the way to it. Without them it is asked directly. */
  proxies?: Proxies;
}

/** Some servers want a key and take any. */
const anyKey = 'none';

/** Azure takes a key in a header of its own. Of all servers only its addresses tell the version of their interface. */
export function keyHeader({ baseUrl, apiKey = anyKey }: SpeechServer): Record<string, string> {
  const isAzures = new URL(baseUrl).searchParams.has('api-version');
  return isAzures ? { 'api-key': apiKey } : { authorization: `Bearer ${apiKey}` };
}
