/**
 * ffmpeg demuxers that read nothing but the one file they are given. ffmpeg finds the format by content, whatever the
 * name says, so playlists (hls, dash, imf), scripts (concat, sdp, sbg), file pairs (vobsub, mlv), numbered images
 * (image2), devices and lavfi must be refused by name: each of them opens files or addresses that an upload names.
 */
const audioFormats = [
  ...['wav', 'w64', 'aiff', 'au', 'caf', 'voc', 'nistsphere', 'sox', 'wsd', 'dsf'],
  ...['mp3', 'aac', 'loas', 'ac3', 'eac3', 'dts', 'dtshd', 'truehd', 'mlp'],
  ...['flac', 'ape', 'tta', 'wv', 'tak', 'shn', 'mpc', 'mpc8', 'ogg'],
  ...['amr', 'amrnb', 'amrwb', 'gsm', 'sbc', 'qcp', 'dss', 'ircam', 'oma', 'xwma', 'aa'],
];

const containerFormats = [
  ...['mov', 'mp4', 'm4a', '3gp', '3g2', 'mj2', 'matroska', 'webm', 'avi', 'asf', 'asf_o', 'flv'],
  ...['mpeg', 'mpegts', 'mxf', 'nut', 'rm', 'ivr', 'dv', 'gxf', 'wtv', 'nsv', 'swf'],
];

/** Recognized only so that a picture is answered "no audio track" instead of "unsupported media". */
const pictureFormats = ['png_pipe', 'jpeg_pipe', 'gif', 'webp_pipe', 'bmp_pipe'];

export const formatWhitelist = [...audioFormats, ...containerFormats, ...pictureFormats].join(',');
