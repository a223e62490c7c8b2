import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { librivoxClips } from '../../../scripts/bench/spoken-clips.ts';

const execute = promisify(execFile);

/** Runs the real ffmpeg without any of the service's hardening; the last argument is the file to make, returned. */
export async function ffmpeg(...args: string[]): Promise<string> {
  await execute('ffmpeg', ['-hide_banner', '-nostdin', '-loglevel', 'error', '-y', ...args]);
  return args.at(-1)!;
}

/** ffmpeg input arguments: a tone of 440 Hz, 44.1 kHz mono. */
export const sine = (seconds: number): string[] => ['-f', 'lavfi', '-i', `sine=440:r=44100:d=${seconds}`];

/** ffmpeg input arguments: digital silence, 16 kHz mono. */
export const silence = (seconds: number): string[] => [
  ...['-f', 'lavfi', '-t', String(seconds), '-i', 'anullsrc=r=16000:cl=mono'],
];

/** ffmpeg input arguments: pink noise at speech level, the same on every run, 16 kHz mono. */
export const noise = (seconds: number): string[] => [
  ...['-f', 'lavfi', '-i', `anoisesrc=a=0.3:c=pink:r=16000:d=${seconds}:seed=1`],
];

/** ffmpeg input arguments: moving pictures without sound. */
export const pictures = (seconds: number): string[] => ['-f', 'lavfi', '-i', `testsrc=s=64x64:r=5:d=${seconds}`];

/** ffmpeg output arguments: what recognizers read, 16 kHz mono s16le without header. */
export const asRecognizerInput = ['-ar', '16000', '-ac', '1', '-f', 's16le'];

/** AMR that takes long to measure: each byte is a packet of 20 ms, so 8 MiB are 46 hours. */
export const amrWithoutSound = (bytes: number): Buffer => Buffer.alloc(bytes, 0x7c).fill('#!AMR\n', 0, 6);

export interface SpeechClip {
  file: string;
  durationMs: number;
  text: string;
}

const wavHeaderBytes = 44;

/** Five clips of human speech (16 kHz mono WAV, LibriVox), with what is said. */
export async function speechClips(): Promise<SpeechClip[]> {
  return Promise.all(
    (await librivoxClips()).map(async ({ file, text }) => {
      const bytes = (await readFile(file)).length - wavHeaderBytes;
      return { file, durationMs: Math.floor(bytes / 32), text };
    }),
  );
}

export { wordErrorRate } from '../../../scripts/bench/word-errors.ts';
