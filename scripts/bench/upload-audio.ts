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

export type Format = 'mp3' | 'wav';

/** How a minute is encoded so that copies of it in a row are a recording again. */
const minuteArgs: Record<Format, string[]> = {
  // 128 kbit/s, which is usual. Without tags, which would stand in the middle.
  mp3: ['-c:a', 'libmp3lame', '-b:a', '128k', '-write_xing', '0', '-id3v2_version', '0', '-f', 'mp3'],
  wav: ['-f', 's16le'],
};

const quiet = ['-hide_banner', '-nostdin', '-loglevel', 'error', '-y'];

/** @returns the path of a file of about so many bytes */
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
  if (format === 'mp3') {
    await writeFile(path, copies);
    return path;
  }
  const samples = join(folder, 'repeated');
  await writeFile(samples, copies);
  const how = ['-f', 's16le', '-ar', '48000', '-ac', '2', '-i', samples, '-c', 'copy', '-f', 'wav'];
  await execute('ffmpeg', [...quiet, ...how, path]);
  return path;
}
