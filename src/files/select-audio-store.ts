import { FileAudioStore } from './file-audio-store.ts';
import { OwnAudioStore } from './own-audio-store.ts';
import type { Db } from '../../db/connection/database.ts';
import type { Config } from '../config/config.ts';
import type { BareAudioStore } from './audio-store.ts';
import type { OnCalled } from './own-audio-store.ts';

type Named = Pick<Config, 'objectPlace' | 'dataDir'>;

/** The store of the settings, once it is proven to be the database's. */
export async function selectAudioStore(config: Named, db: Db, onCalled?: OnCalled): Promise<OwnAudioStore> {
  return new OwnAudioStore(db, await bareAudioStore(config), onCalled);
}

/** Only who keeps audio in an object store loads its client: that takes a second, and 40 MB of memory. */
export async function bareAudioStore({ objectPlace, dataDir }: Named): Promise<BareAudioStore> {
  if (objectPlace === undefined) return new FileAudioStore(dataDir);
  const { S3AudioStore } = await import('./s3/s3-audio-store.ts');
  return new S3AudioStore(objectPlace);
}
