/** Every file that should make trouble, by kind. */
import { archives } from './archives.ts';
import { containers } from './containers.ts';
import { damaged } from './damaged.ts';
import { lyingHeaders } from './lying-headers.ts';
import { badNames } from './names.ts';
import { references } from './references.ts';
import { streams } from './streams.ts';
import type { Bench } from './bench.ts';
import type { HostileFile } from './entry.ts';

export const corpus: HostileFile[] = [
  ...references,
  ...containers,
  ...damaged,
  ...lyingHeaders,
  ...streams,
  ...archives,
  ...badNames,
];

export interface MadeFile extends HostileFile {
  bytes: Buffer;
}

/** Makes them, or those that are wanted, two at once. */
export async function makeCorpus(
  bench: Bench,
  isWanted: (file: HostileFile) => boolean = () => true,
): Promise<MadeFile[]> {
  const made: MadeFile[] = [];
  const waiting = corpus.filter(isWanted).entries();
  const makeNext = async (): Promise<void> => {
    for (const [index, file] of waiting) made[index] = { ...file, bytes: await file.make(bench) };
  };
  await Promise.all([makeNext(), makeNext()]);
  return made;
}
