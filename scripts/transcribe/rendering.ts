import { askPersistently } from './persistence.ts';
import type { Schema } from '../../codegen/operations.ts';
import type { ApiClient } from '../terminal/api-client.ts';
import type { Progress } from '../terminal/progress.ts';

const mediaTypes = { text: 'text/plain', vtt: 'text/vtt', srt: 'application/x-subrip', md: 'text/markdown' } as const;

/** How the transcript is printed. `words` is JSON with the words in it. */
export type Rendering = keyof typeof mediaTypes | 'json' | 'words';

/** The transcript as text that ends in a line break; the service makes the captions. */
export async function render(
  client: ApiClient,
  transcript: Schema<'Transcript'>,
  rendering: Rendering,
  progress: Progress,
): Promise<string> {
  if (rendering === 'json' || rendering === 'words') return `${JSON.stringify(transcript, null, 2)}\n`;
  const read = () =>
    client.GET('/sessions/{id}/transcript', {
      params: { path: { id: transcript.sessionId } },
      headers: { Accept: mediaTypes[rendering] },
      parseAs: 'text',
    });
  // Undefined for an empty body: nothing was said.
  return (await askPersistently<string | undefined>(read, progress.say)) ?? '';
}
