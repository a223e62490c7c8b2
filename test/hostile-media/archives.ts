/** Little files that become large ones, for whoever unpacks them. */
import { deflateRawSync, gzipSync } from 'node:zlib';
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

const bomb = (name: string, made: string, make: HostileFile['make']): HostileFile => {
  return { kind, name, made, make, outcome: unreadable };
};

export const archives: HostileFile[] = [
  bomb('bomb.zip', '50 MB of zeros in a ZIP of 50 KB', () => zip('../../../../tmp/evil.mp3', zeros)),
  bomb('bomb.wav.gz', '50 MB of zeros, gzipped twice', () => gzipSync(gzipSync(zeros))),
  bomb('program.mp3', 'a script', () => Buffer.from('#!/bin/sh\ntouch /tmp/touched\n')),
];
