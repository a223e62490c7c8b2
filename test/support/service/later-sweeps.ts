import { removeOrphans, sweep } from '../../../src/worker/sweeps.ts';
import type { AudioStore } from '../../../src/files/audio-store.ts';
import type { WorkerContext } from '../../../src/worker/worker-context.ts';

/**
 * Nobody can make a file old: the time of its last change is the kernel's. So a sweep comes from the future.
 *
 * @param laterMs how far it comes from
 * @param meanwhile what happens in the ten minutes between its look at the audio and the removal
 */
export async function sweepLater(
  worker: Pick<WorkerContext, 'db' | 'queue' | 'log' | 'audioStore' | 'stopping'>,
  laterMs: number,
  meanwhile: (ms: number) => Promise<void> = async () => {},
): Promise<void> {
  const later = { ...worker, audioStore: olderAudio(worker.audioStore, laterMs) };
  await sweep(later);
  await removeOrphans(later, meanwhile);
}

/** A store as it will be later: all that is in it has been there for so much longer. */
function olderAudio(store: AudioStore, laterMs: number): AudioStore {
  async function* list(onUnreadable?: (error: unknown) => void) {
    for await (const audio of store.list(onUnreadable)) yield { ...audio, keptMs: audio.keptMs + laterMs };
  }
  return new Proxy(store, {
    get(_, name: keyof AudioStore) {
      if (name === 'list') return list;
      const member = store[name];
      return typeof member === 'function' ? member.bind(store) : member;
    },
  });
}
