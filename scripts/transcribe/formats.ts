import { Refusal } from '../terminal/refusal.ts';
import { askPersistently } from './persistence.ts';
import { Unfinished } from './refusals.ts';
import type { Schema } from '../../codegen/operations.ts';
import type { ApiClient } from '../terminal/api-client.ts';
import type { Asking } from './persistence.ts';

const captions = { txt: 'text/plain', vtt: 'text/vtt', srt: 'application/x-subrip', md: 'text/markdown' } as const;

export const formats = ['txt', 'srt', 'vtt', 'md', 'json', 'words'] as const;

/** How the transcript is written. `words` is JSON with the words in it. */
export type Format = (typeof formats)[number];

/** What the name of a file in this format ends in. */
export const extensionOf = (format: Format): string => (format === 'words' ? '.json' : `.${format}`);

/**
 * The transcript as text that ends in a line break, or as nothing; the service makes the captions.
 * @throws {Unfinished} when the service can't be reached or refuses, or the signal aborts
 */
export async function render(
  client: ApiClient,
  transcript: Schema<'Transcript'>,
  format: Format,
  asking: Asking,
): Promise<string> {
  if (format === 'json' || format === 'words') return `${JSON.stringify(transcript, null, 2)}\n`;
  const unfinished = (error: unknown): never => {
    if (error instanceof Refusal) throw new Unfinished(transcript.sessionId, error);
    if (asking.signal?.aborted) throw new Unfinished(transcript.sessionId);
    throw error;
  };
  const read = () =>
    client.GET('/sessions/{id}/transcript', {
      params: { path: { id: transcript.sessionId } },
      headers: { Accept: captions[format] },
      parseAs: 'text',
      ...(asking.signal && { signal: asking.signal }),
    });
  // Undefined for an empty body: nothing was said.
  return (await askPersistently<string | undefined>(read, asking).catch(unfinished)) ?? '';
}
