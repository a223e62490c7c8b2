/** Cut short, empty, or not media at all, whatever the name says. */
import { createHash } from 'node:crypto';
import { wavHeader } from '../../src/audio/samples.ts';
import { sine } from '../support/uploads/audio-fixtures.ts';
import { completes, refused, unreadable } from './entry.ts';
import type { HostileFile, Outcome } from './entry.ts';

const upTo = (fraction: number) => (bytes: Buffer) => bytes.subarray(0, Math.floor(bytes.length * fraction));

/** Extension, encoding, what is kept of 4 s, what comes out of it. */
const cuts: [extension: string, encoding: string[], fraction: number, outcome: Outcome][] = [
  ['wav', [], 0.5, completes(2_000)],
  ['wav', [], 0.0001, unreadable],
  ['m4a', [], 0.9, unreadable],
  ['mp4', ['-movflags', 'frag_keyframe+empty_moov', '-frag_duration', '500000'], 0.5, completes(2_000, 100)],
];

const truncated: HostileFile[] = cuts.map(([extension, encoding, fraction, outcome]) => ({
  kind: 'truncated',
  name: `cut-at-${fraction}.${extension}`,
  made: `4 s of a tone as ${extension}, the first ${fraction} of its bytes`,
  make: async ({ ffmpeg }) => upTo(fraction)(await ffmpeg(extension, ...sine(4), ...encoding)),
  outcome,
}));

const garbage: HostileFile = {
  kind: 'garbage',
  name: 'garbage.mp3',
  made: '20,000 bytes of SHAKE-256',
  make: () => createHash('shake256', { outputLength: 20_000 }).update('mp3').digest(),
  outcome: unreadable,
};

/** The first bytes that a format is told by, then nothing of it. */
const magic: [name: string, hex: string][] = [
  ['riff.wav', '52494646ffffffff57415645666d7420'],
  ['ftyp.mp4', '000000206674797069736f6d0000020069736f6d69736f3261766331'],
  ['ebml.webm', '1a45dfa39f4286810142f7810142f2810442f381084282847765626d'],
  ['oggs.ogg', '4f67675300020000000000000000'],
  ['flac.flac', '664c614300000022'],
  ['asf.wma', '3026b2758e66cf11a6d900aa0062ce6c'],
  ['id3.mp3', '4944330300000000007f'],
];

const headersOnly: HostileFile[] = magic.map(([name, hex]) => ({
  kind: 'garbage',
  name,
  made: `the first ${hex.length / 2} bytes of its format, then 4,000 times the byte 0x55`,
  make: () => Buffer.concat([Buffer.from(hex, 'hex'), Buffer.alloc(4_000, 0x55)]),
  outcome: unreadable,
}));

const empty = (name: string, made: string, bytes: Buffer, outcome = unreadable): HostileFile => {
  return { kind: 'empty', name, made, make: () => bytes, outcome };
};

const wrong = (name: string, made: string, args: string[], declaredType?: string): HostileFile => ({
  ...{ kind: 'wrong extension or type', name, made, outcome: completes(1_000), ...(declaredType && { declaredType }) },
  make: ({ ffmpeg }) => ffmpeg(args[0]!, ...args.slice(1)),
});

const others: HostileFile[] = [
  empty('empty.wav', 'nothing', Buffer.alloc(0), refused(400, 'empty_file')),
  empty('zeros.mp3', '1 MB of zeros', Buffer.alloc(1_000_000)),
  empty('no-samples.wav', 'a WAV header without samples', wavHeader(0)),
  wrong('sound.exe', 'Opus that is called a program', ['opus', ...sine(1), '-c:a', 'libopus']),
  wrong('song.wav', 'MP3 that is called WAV and declared to be JSON', ['mp3', ...sine(1)], 'application/json'),
  wrong(
    'sound',
    'WAV without extension, with a declared type that is none',
    ['wav', ...sine(1)],
    '../../etc/passwd; x="',
  ),
];

export const damaged: HostileFile[] = [...truncated, garbage, ...headersOnly, ...others];
