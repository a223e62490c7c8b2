/** Sound that is there but odd: too many streams or none, hours or hundredths of a second, every way to write samples. */
import { pictures, sine } from '../support/uploads/audio-fixtures.ts';
import { completes, fails, silentPictures, unreadable } from './entry.ts';
import type { HostileFile, Outcome } from './entry.ts';

const encoded = (
  kind: string,
  name: string,
  made: string,
  args: string[],
  outcome: Outcome = completes(1_000),
): HostileFile => ({
  ...{ kind, name, made, outcome },
  make: ({ ffmpeg }) => ffmpeg(name.split('.').at(-1)!, ...args),
});

const tracks = 'tracks';
const one = sine(1);
const hush = (seconds: number) => ['-f', 'lavfi', '-i', 'anullsrc=r=1000:cl=mono', '-t', String(seconds)];
const two = [...sine(2), ...sine(3), '-map', '0', '-map', '1'];

const withTracks: HostileFile[] = [
  encoded(tracks, 'video.mp4', 'pictures without sound', pictures(1), silentPictures),
  encoded(tracks, 'picture.png', 'a picture', [...pictures(1), '-frames:v', '1'], silentPictures),
  encoded(tracks, 'film.mkv', 'pictures, two tracks of sound', [...pictures(1), ...two, '-map', '2'], completes(2_000)),
  encoded(tracks, 'forty.mka', 'forty tracks', [
    ...[...one, ...Array.from({ length: 40 }, () => ['-map', '0']).flat()],
    ...['-c:a', 'libopus', '-b:a', '6k'],
  ]),
];

const covered: HostileFile[] = ['mp3', 'm4a', 'flac'].map((extension) => ({
  kind: tracks,
  name: `cover.${extension}`,
  made: 'sound with a cover',
  async make({ ffmpeg, file }) {
    const cover = await file(`cover-of-${extension}.png`, await ffmpeg('png', ...pictures(1), '-frames:v', '1'));
    const attached = ['-map', '0', '-map', '1', '-c:v', 'copy', '-disposition:v', 'attached_pic'];
    return ffmpeg(extension, ...one, '-i', cover, ...attached);
  },
  outcome: completes(1_000),
}));

const lengths = 'lengths';
const ofLengths: HostileFile[] = [
  encoded(lengths, 'hundredth.wav', '0.01 s', sine(0.01), completes(10, 1)),
  encoded(
    lengths,
    'sample.wav',
    'one sample',
    ['-f', 'lavfi', '-i', 'sine=r=8000:d=1', '-frames:a', '1', '-af', 'atrim=end_sample=1'],
    fails('unsupported_media'),
  ),
  encoded(lengths, 'almost-too-long.flac', '19 min of silence', hush(1_140), completes(1_140_000)),
];

const samples = 'samples and codecs';
const pcm = (codec: string, ...more: string[]) => [...one, '-c:a', codec, ...more];
const codecs: HostileFile[] = [
  encoded(samples, '192-khz.wav', '192 kHz, 8 channels, 32 bit', pcm('pcm_s32le', '-ar', '192000', '-ac', '8')),
  encoded(samples, 'mulaw.au', 'µ-law', pcm('pcm_mulaw')),
  encoded(samples, 'big-endian.aiff', '24 bit, big-endian', pcm('pcm_s24be')),
  encoded(samples, 'ms-adpcm.wav', 'Microsoft ADPCM', pcm('adpcm_ms'), completes(1_000, 100)),
  encoded(samples, 'ima-qt.mov', 'QuickTime ADPCM', pcm('adpcm_ima_qt'), completes(1_000, 100)),
  encoded(samples, 'g722.wav', 'G.722', pcm('g722', '-ar', '16000')),
  encoded(samples, 'g726.wav', 'G.726', pcm('g726', '-ar', '8000')),
  encoded(samples, 'gsm.wav', 'GSM in WAV', pcm('libgsm_ms', '-ar', '8000'), completes(1_000, 100)),
  encoded(samples, 'aac.m4a', 'AAC', pcm('aac')),
  encoded(
    samples,
    'latm.ts',
    'AAC in LATM',
    pcm('aac', '-f', 'mpegts', '-mpegts_flags', 'latm'),
    completes(1_000, 100),
  ),
  encoded(samples, 'vorbis.ogg', 'Vorbis', pcm('libvorbis')),
  encoded(samples, 'speex.ogg', 'Speex', pcm('libspeex', '-ar', '16000')),
  encoded(samples, 'opus.webm', 'Opus', pcm('libopus')),
  encoded(samples, 'wma2.wma', 'WMA 2', pcm('wmav2'), completes(1_000, 150)),
  encoded(samples, 'dts.dts', 'DTS', pcm('dca', '-strict', '-2', '-ar', '48000', '-ac', '2')),
  encoded(samples, 'truehd.thd', 'TrueHD', pcm('truehd', '-strict', '-2', '-ar', '48000', '-f', 'truehd')),
  encoded(samples, 'real.rm', 'RealAudio', pcm('ac3', '-f', 'rm'), completes(1_000, 100)),
  encoded(samples, 'nelly.flv', 'Nellymoser', pcm('nellymoser', '-ar', '22050'), completes(1_000, 100)),
  encoded(samples, 'experimental.mka', 'Sonic, an experimental codec', pcm('sonic', '-strict', '-2'), unreadable),
];

const keys = ['76a6c65c5ea762046bd749a2e632ccbb', '-encryption_kid', 'a7e61c373e219033c21091fa607bf3b8'];
const encryption = ['-encryption_scheme', 'cenc-aes-ctr', '-encryption_key', ...keys];
const encrypted = encoded(samples, 'aac.mp4', 'MP4 that is encrypted', pcm('aac', ...encryption), unreadable);

/** RealMedia whose frames are mixed in a way that ffmpeg does not know. */
const mixed: HostileFile = {
  kind: samples,
  name: 'mixed.rm',
  made: 'RealAudio whose frames nobody can put in order',
  async make({ ffmpeg }) {
    const bytes = await ffmpeg('rm', ...one, '-ar', '32000', '-c:a', 'ac3');
    bytes.write('none', bytes.indexOf('Int0'), 'latin1');
    return bytes;
  },
  outcome: unreadable,
};

/** A frame of AMR (12.2 kbit/s and 23.85 kbit/s) takes 20 ms. */
const amr = (magic: string, header: number, bytes: number): HostileFile => ({
  kind: samples,
  name: `${magic.includes('WB') ? 'wide' : 'narrow'}.amr`,
  made: 'fifty frames of AMR by hand',
  make: () => Buffer.from(magic + (String.fromCharCode(header) + '\0'.repeat(bytes)).repeat(50), 'latin1'),
  outcome: completes(1_000),
});

const bySox: HostileFile[] = (['voc', 'gsm', 'sph', 'ircam', 'amb'] as const).map((extension) => ({
  kind: samples,
  name: `sox.${extension}`,
  made: 'one second, by sox',
  make: ({ sox }) => sox(extension),
  outcome: completes(1_000),
}));

export const streams: HostileFile[] = [
  ...withTracks,
  ...covered,
  ...ofLengths,
  ...codecs,
  encrypted,
  mixed,
  ...bySox,
  amr('#!AMR\n', 0x3c, 31),
  amr('#!AMR-WB\n', 0x44, 60),
  {
    kind: samples,
    name: 'speech.wav',
    made: 'two seconds of a human voice',
    make: async ({ ffmpeg, speech }) => ffmpeg('wav', '-i', speech),
    outcome: completes(2_000),
  },
];
