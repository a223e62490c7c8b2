/** Little files that become large ones, for whoever unpacks them. */
import { deflateRawSync, gzipSync } from 'node:zlib';
import { sine } from '../support/uploads/audio-fixtures.ts';
import { unreadable } from './entry.ts';
import type { HostileFile } from './entry.ts';

const kind = 'archives and bombs';
const zeros = Buffer.alloc(50_000_000);

function zip(name: string, content: Buffer): Buffer {
  const packed = deflateRawSync(content);
  const head = Buffer.alloc(30);
  head.write('PK\x03\x04\x14\0\0\0\x08\0', 0, 'latin1');
  head.writeUInt32LE(packed.length, 18);
  head.writeUInt32LE(content.length, 22);
  head.writeUInt16LE(name.length, 26);
  return Buffer.concat([head, Buffer.from(name), packed]);
}

/** A tar header that claims so many bytes. */
function tar(name: string, size: number): Buffer {
  const head = Buffer.alloc(512);
  head.write(name, 0, 'latin1');
  const octal = [0o644, 0, 0].map((value) => `${value.toString(8).padStart(7, '0')}\x00`).join('');
  head.write(`${octal}${size.toString(8).padStart(11, '0')}\x00${'0'.repeat(11)}`, 100, 'latin1');
  head.write('        0', 148, 'latin1');
  head.write('ustar\x0000', 257, 'latin1');
  const sum = head.reduce((total, byte) => total + byte, 0);
  head.write(`${sum.toString(8).padStart(6, '0')}\x00 `, 148, 'latin1');
  return head;
}

const bomb = (name: string, made: string, make: HostileFile['make']): HostileFile => {
  return { kind, name, made, make, outcome: unreadable };
};

export const archives: HostileFile[] = [
  bomb('bomb.zip', '50 MB of zeros in a ZIP of 50 KB', () => zip('a.wav', zeros)),
  bomb('bomb.mp3', 'the same, called MP3', () => zip('../../../../tmp/evil.mp3', zeros)),
  bomb('bomb.wav.gz', '50 MB of zeros, gzipped twice', () => gzipSync(gzipSync(zeros))),
  bomb('sound.wav.gz', 'a WAV, gzipped', async ({ ffmpeg }) => gzipSync(await ffmpeg('wav', ...sine(1)))),
  bomb('bomb.tar', 'a tar that claims 8 GB', () => Buffer.concat([tar('/etc/cron.d/x', 8e9), Buffer.alloc(4_096)])),
  bomb('document.pdf', 'a PDF', () => Buffer.from('%PDF-1.7\n1 0 obj<</Type/Catalog/OpenAction<</S/URI>>>>endobj\n')),
  bomb('program.mp3', 'a script', () => Buffer.from('#!/bin/sh\ntouch /tmp/touched\n')),
];
