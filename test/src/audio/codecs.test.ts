import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { codecWhitelist } from '../../../src/audio/ffmpeg.ts';

const listed = codecWhitelist.split(',');

/** Flags by decoder, of this ffmpeg; ` AF...D flac` is one for audio, `A..X..` an experimental one. */
async function knownDecoders(): Promise<Map<string, string>> {
  const { stdout } = await promisify(execFile)('ffmpeg', ['-hide_banner', '-decoders']);
  return new Map([...stdout.matchAll(/^ ([VAS][A-Z.]{5}) (\w+) /gm)].map(([, flags, name]) => [name!, flags!]));
}

test('the list of decoders → for audio only, of libraries only what is needed, none experimental, none twice', async () => {
  const known = await knownDecoders();
  const isFine = (name: string) => !known.has(name) || /^A[^X]*$/.test(known.get(name)!);
  expect(listed.filter((name) => !isFine(name))).toEqual([]);
  expect(listed.filter((name) => name.startsWith('lib'))).toEqual(['libspeex']);
  expect(new Set(listed).size).toBe(listed.length);
  // Names that this ffmpeg does not know are other versions', but not most of them.
  expect(listed.filter((name) => known.has(name)).length).toBeGreaterThan(100);
});
