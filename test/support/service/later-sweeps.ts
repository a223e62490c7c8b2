import { sweep } from '../../../src/worker/sweeps.ts';
import type { AudioStore } from '../../../src/files/audio-store.ts';
import type { Sweeper } from '../../../src/worker/worker-context.ts';

/**
 * Nobody can make a file old: the time of its last change is the kernel's. So two sweeps come from the future.
 *
 * @param laterMs how far they come from
 * @param apartMs between the first, which sees a file, and the second, which may remove it
 */
export async function sweepLater(
  worker: Omit<Sweeper, 'mayListAudio'>,
  laterMs: number,
  apartMs = 10 * 60_000,
): Promise<void> {
  const suspects = new Map<string, number>();
  const later = { ...worker, audioStore: olderAudio(worker.audioStore, laterMs), mayListAudio: async () => true };
  // Whole: with fractions, what is ten minutes apart may be a little less.
  const steadyNow = Math.round(performance.now());
  await sweep(later, suspects, steadyNow);
  await sweep(later, suspects, steadyNow + apartMs);
}

/** A store as it will be later: all that is in it has been there for so much longer. */
export function olderAudio(store: AudioStore, laterMs: number): AudioStore {
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
