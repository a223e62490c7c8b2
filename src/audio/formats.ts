/**
 * ffmpeg demuxers that read only the file that they are given. ffmpeg finds the format by the content, whatever the
 * file's name. Other demuxers open files or addresses that an upload names: playlists (hls, dash, imf), scripts
 * (concat, sdp, sbg), pairs of files (vobsub, mlv), numbered images (image2), devices and lavfi. So they are left out.
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

/** These are allowed only so that a picture is answered with "no audio track" instead of "unsupported media". */
const pictureFormats = ['png_pipe', 'jpeg_pipe', 'gif', 'webp_pipe', 'bmp_pipe'];

export const formatWhitelist = [...audioFormats, ...containerFormats, ...pictureFormats].join(',');
