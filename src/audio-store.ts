import { FileAudioStore } from './files/file-audio-store.ts';
import type { Config } from './config.ts';
import type { AudioStore } from './files/audio-store.ts';

/** Only who keeps audio in an object store loads its client: that takes a second, and 40 MB of memory. */
export async function selectAudioStore({ objectPlace, dataDir }: Config): Promise<AudioStore> {
  if (objectPlace === undefined) return new FileAudioStore(dataDir);
  const { S3AudioStore } = await import('./s3/s3-audio-store.ts');
  return new S3AudioStore(objectPlace);
}
