import type { AudioStore } from '../../../src/files/audio-store.ts';

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
