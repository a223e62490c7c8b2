/**
 * ffmpeg's own audio decoders for the formats that are accepted (`formats.ts`). ffmpeg chooses a decoder by what the
 * file says, and it has decoders for video games and experiments that nobody maintains. These are left out. So are
 * external libraries (`lib…`), which ffmpeg's own decoders replace, but for libspeex (`ffmpeg.ts` says why), and all
 * decoders of pictures and subtitles.
 */
const uncompressed = [
  ...['pcm_s8', 'pcm_u8', 'pcm_s16le', 'pcm_s16be', 'pcm_u16le', 'pcm_u16be', 'pcm_s24le', 'pcm_s24be'],
  ...['pcm_u24le', 'pcm_u24be', 'pcm_s32le', 'pcm_s32be', 'pcm_u32le', 'pcm_u32be', 'pcm_s64le', 'pcm_s64be'],
  ...['pcm_f16le', 'pcm_f24le', 'pcm_f32le', 'pcm_f32be', 'pcm_f64le', 'pcm_f64be', 'pcm_alaw', 'pcm_mulaw'],
  ...['pcm_s8_planar', 'pcm_s16le_planar', 'pcm_s16be_planar', 'pcm_s24le_planar', 'pcm_s32le_planar'],
  ...['pcm_bluray', 'pcm_dvd', 's302m', 'dvaudio', 'dsd_lsbf', 'dsd_msbf', 'dsd_lsbf_planar', 'dsd_msbf_planar', 'dst'],
];

const adaptive = [
  ...['adpcm_ms', 'adpcm_ima_wav', 'adpcm_ima_qt', 'adpcm_yamaha', 'adpcm_swf', 'adpcm_ct', 'g722', 'g726', 'g726le'],
  ...['adpcm_sbpro_2', 'adpcm_sbpro_3', 'adpcm_sbpro_4', 'mace3', 'mace6'],
];

const lossless = [
  ...['flac', 'alac', 'als', 'ape', 'tta', 'wavpack', 'tak', 'shorten', 'mlp', 'truehd', 'wmalossless', 'ralf'],
];

const speech = [
  ...['amrnb', 'amrwb', 'gsm', 'gsm_ms', 'speex', 'ilbc', 'g723_1', 'g729', 'qcelp', 'evrc', 'dss_sp', 'truespeech'],
  ...['wmavoice', 'nellymoser', 'sipr', 'real_144', 'real_288', 'siren', 'msnsiren', 'libspeex'],
];

const lossy = [
  ...['mp1', 'mp1float', 'mp2', 'mp2float', 'mp3', 'mp3float', 'mp3adu', 'mp3adufloat', 'mp3on4', 'mp3on4float'],
  ...['aac', 'aac_latm', 'ac3', 'eac3', 'dca', 'opus', 'vorbis', 'mpc7', 'mpc8', 'sbc', 'wmav1', 'wmav2', 'wmapro'],
  ...[
    'xma1',
    'xma2',
    'cook',
    'atrac1',
    'atrac3',
    'atrac3al',
    'atrac3plus',
    'atrac3plusal',
    'qdm2',
    'qdmc',
    'imc',
    'iac',
  ],
];

export const codecWhitelist = [...uncompressed, ...adaptive, ...lossless, ...speech, ...lossy].join(',');
