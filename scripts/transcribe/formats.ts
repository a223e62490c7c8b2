import { persistently } from '../client/index.ts';
import { unfinished } from './waiting.ts';
import type { Asking, Transcript, TranscriptionClient } from '../client/index.ts';

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
  client: TranscriptionClient,
  transcript: Transcript,
  format: Format,
  asking: Asking,
): Promise<string> {
  if (format === 'json' || format === 'words') return `${JSON.stringify(transcript, null, 2)}\n`;
  const { sessionId: id } = transcript;
  const read = () =>
    client.api.GET('/sessions/{id}/transcript', {
      ...{ params: { path: { id } }, headers: { Accept: captions[format] }, parseAs: 'text' as const },
      ...(asking.signal && { signal: asking.signal }),
    });
  try {
    // Undefined for an empty body: nothing was said.
    return (await persistently<string | undefined>(read, asking)) ?? '';
  } catch (error) {
    throw unfinished(error, id, asking);
  }
}
