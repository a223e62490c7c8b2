import { join } from 'node:path';
import { AudioToolError } from '../../../src/audio/audio-error.ts';
import { decodeWhole } from '../../../src/audio/tracks.ts';
import { findExecutable } from '../../../src/children/bounded-command.ts';
import { withFfmpeg } from '../../support/faults/fake-programs.ts';
import { ffmpeg, noise } from '../../support/uploads/audio-fixtures.ts';
import { useFolder } from '../../support/use-folder.ts';

const folder = useFolder();
const input = join(folder, 'ten.flac');
beforeAll(() => ffmpeg(...noise(10), input));

const decode = (measuredMs: number | null) =>
  decodeWhole({ input, output: join(folder, 'decoded'), maxDurationMs: 60_000, timeLimitMs: 20_000 }, measuredMs);

test('as long as measured, a little shorter, or never measured → decoded once', async () => {
  for (const measuredMs of [10_000, 11_100, null]) {
    expect(await decode(measuredMs)).toMatchObject({ durationMs: 10_000, isConfirmedShort: false });
  }
});

test('much shorter than measured, and again → damaged, and said to be so', async () => {
  expect(await decode(11_200)).toMatchObject({ durationMs: 10_000, isConfirmedShort: true });
});

test('the disk fails in the first run, which ffmpeg takes for the end of the file → AudioToolError, no shorter audio', async () => {
  const [real, strace] = await Promise.all([findExecutable('ffmpeg'), findExecutable('strace')]);
  const marker = join(folder, 'has-failed');
  const failing = `${strace} -D -f -o /dev/null -P ${input} -e trace=read -e inject=read:error=EIO:when=3+`;
  const script = `[ -e ${marker} ] || { : >${marker}; exec ${failing} ${real} "$@"; }; exec ${real} "$@"`;
  const error = await withFfmpeg(script, () => decode(10_000).catch((cause: unknown) => cause));
  expect(error).toBeInstanceOf(AudioToolError);
  expect(String(error)).toMatch(/decoded to [1-8]\d{3} ms, and then to 10000 ms$/);
});
