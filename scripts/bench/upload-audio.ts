/**
 * Recordings of any size, as people upload them. They are made in seconds by repeating what a second of noise is
 * encoded to.
 */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Setting } from './bench.ts';

const execute = promisify(execFile);

const formats = ['mp3', 'wav', 'flac', 'm4a'] as const;
export type Format = (typeof formats)[number];

/** How a minute is encoded so that copies of it in a row are a recording again. */
const minuteArgs: Record<Format, string[]> = {
  // 128 kbit/s, which is usual. Without tags, which would stand in the middle.
  mp3: ['-c:a', 'libmp3lame', '-b:a', '128k', '-write_xing', '0', '-id3v2_version', '0', '-f', 'mp3'],
  wav: ['-f', 's16le'],
  flac: ['-f', 's16le'],
  m4a: ['-c:a', 'aac', '-b:a', '128k', '-f', 'adts'],
};

/** How the repeated content becomes a file. */
const fileArgs: Partial<Record<Format, { input: string[]; output: string[] }>> = {
  wav: { input: ['-f', 's16le', '-ar', '48000', '-ac', '2'], output: ['-c', 'copy', '-f', 'wav'] },
  flac: { input: ['-f', 's16le', '-ar', '48000', '-ac', '2'], output: ['-compression_level', '0', '-f', 'flac'] },
  m4a: { input: ['-f', 'aac'], output: ['-c', 'copy', '-bsf:a', 'aac_adtstoasc', '-f', 'ipod'] },
};

const quiet = ['-hide_banner', '-nostdin', '-loglevel', 'error', '-y'];

/** @returns the path of a file of about so many bytes (FLAC: about 0.9 of it) */
export async function makeAudio({ folder }: Setting, format: Format, bytes: number): Promise<string> {
  const minute = join(folder, `minute.${format}`);
  const noise = ['-f', 'lavfi', '-i', 'anoisesrc=amplitude=0.2:duration=60:sample_rate=48000'];
  await execute('ffmpeg', [...quiet, ...noise, '-ac', '2', ...minuteArgs[format], minute]);
  const content = await readFile(minute);
  const copies = Array.from({ length: Math.ceil(bytes / content.length) }, (_, index) =>
    // Whole samples: 16 bits, two channels.
    content.subarray(0, Math.min(content.length, bytes - index * content.length) & ~3),
  );
  const path = join(folder, `${bytes}.${format}`);
  const how = fileArgs[format];
  if (how === undefined) {
    await writeFile(path, copies);
    return path;
  }
  const repeated = join(folder, 'repeated');
  await writeFile(repeated, copies);
  await execute('ffmpeg', [...quiet, ...how.input, '-i', repeated, ...how.output, path]);
  return path;
}
