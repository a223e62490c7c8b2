/** Every file that should make trouble, by kind. */
import { sine } from '../support/uploads/audio-fixtures.ts';
import { archives } from './archives.ts';
import { containers } from './containers.ts';
import { damaged } from './damaged.ts';
import { lyingHeaders } from './lying-headers.ts';
import { references } from './references.ts';
import { streams } from './streams.ts';
import type { Bench } from './bench.ts';
import { completes, refused } from './entry.ts';
import type { HostileFile, Outcome } from './entry.ts';

/** What becomes of a name that is text: `createTranscription.form.test.ts`. */
const names: [made: string, name: string | Buffer, outcome?: Outcome][] = [
  ['that is no UTF-8', Buffer.from([0x66, 0xfc, 0x72, 0xff, 0xfe, 0xc0, 0x80, 0x2e, 0x77, 0x61, 0x76])],
  ['with control characters', '\x01\x07\x1b[2J\x1b]0;owned\x07\x7f\t.wav', refused(400, 'invalid_request')],
  ['of 4,000 characters', `${'n'.repeat(4_000)}.wav`],
];

/** Good sound with bad names. */
const badNames: HostileFile[] = names.map(([made, name, outcome = completes(1_000)]) => ({
  kind: 'names',
  name,
  made: `one second of a tone in a WAV with a name ${made}`,
  make: ({ ffmpeg }) => ffmpeg('wav', ...sine(1)),
  outcome,
}));

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
