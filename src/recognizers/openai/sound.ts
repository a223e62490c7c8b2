/** What a server gets of a recording. */
import { open } from 'node:fs/promises';
import { BlockList, isIP } from 'node:net';
import { bytesPerMs } from '../../audio/samples.ts';
import { toFlac } from './flac.ts';
import { toWav } from './wav.ts';
import type { Piece } from '../../audio/pieces.ts';

/**
 * -60 dB, as samples of s16le. Quieter audio is not sent: Whisper makes up words for digital silence, and servers
 * charge for it.
 */
const inaudible = 33;

/** OpenAI refuses less than 0.1 s, and whisper.cpp hears nothing in less than a second. */
const shortestMs = 1_100;

/** To compress it takes longer than to send it. */
const notWorthCompressingMs = 10_000;

/**
 * FLAC has about half the size of WAV, and costs a hundred times the processor time. Both lose nothing, and every
 * server reads them.
 * @param file 16 kHz mono s16le
 * @param isNear whether the server is on this machine or in its network
 * @returns undefined when there is nothing to be heard
 * @throws what `toFlac` and `toWav` throw
 */
export async function soundOf(
  file: string,
  piece: Piece,
  isNear: boolean,
  signal: AbortSignal,
): Promise<File | undefined> {
  if (await isInaudible(file, piece)) return undefined;
  const isWav = isNear || piece.windowEndMs - piece.windowStartMs <= notWorthCompressingMs;
  return isWav ? toWav(file, piece, shortestMs) : toFlac(file, piece, signal);
}

async function isInaudible(file: string, { windowStartMs, windowEndMs }: Piece): Promise<boolean> {
  await using samples = await open(file);
  const chunk = Buffer.alloc(256 * 1024);
  const endAt = windowEndMs * bytesPerMs;
  for (let position = windowStartMs * bytesPerMs; position < endAt;) {
    const { bytesRead } = await samples.read(chunk, 0, Math.min(chunk.length, endAt - position), position);
    if (bytesRead === 0) return false;
    for (let at = 0; at + 1 < bytesRead; at += 2) if (Math.abs(chunk.readInt16LE(at)) >= inaudible) return false;
    position += bytesRead;
  }
  return true;
}

/** RFC 1918, 6598, 3927 and 4193; this machine. */
const near = new BlockList();
for (const [network, prefix] of [
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['100.64.0.0', 10],
  ['169.254.0.0', 16],
] as const)
  near.addSubnet(network, prefix, 'ipv4');
near.addAddress('::1', 'ipv6');
near.addSubnet('fc00::', 7, 'ipv6');
near.addSubnet('fe80::', 10, 'ipv6');

/** Whether an address is of this machine or of a private network, as its name or number tells. */
export function isNear(url: string): boolean {
  const host = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1');
  const version = isIP(host);
  if (version !== 0) return near.check(host, version === 4 ? 'ipv4' : 'ipv6');
  return !host.includes('.') || /\.(localhost|local|internal|lan|home\.arpa)$/.test(host);
}
