/** Texts that send a reader to other files and addresses. */
import { silentPictures, unreadable } from './entry.ts';
import type { Bench } from './bench.ts';
import type { HostileFile } from './entry.ts';

const hls = (target: string): string =>
  `#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:10,\n${target}\n#EXT-X-ENDLIST\n`;
const encryptedHls = (target: string): string =>
  hls(target).replace('#EXTINF', `#EXT-X-KEY:METHOD=AES-128,URI="${target}"\n#EXT-X-MAP:URI="${target}"\n#EXTINF`);
const dash = (target: string): string =>
  `<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT2S" ` +
  `profiles="urn:mpeg:dash:profile:isoff-on-demand:2011"><Period><AdaptationSet mimeType="audio/mp4"><Representation ` +
  `id="1" bandwidth="1"><BaseURL>${target}</BaseURL></Representation></AdaptationSet></Period></MPD>`;
const imf = (target: string): string =>
  `<?xml version="1.0"?><CompositionPlaylist xmlns="http://www.smpte-ra.org/schemas/2067-3/2016"><Id>${target}</Id>` +
  `<AssetMap xmlns="http://www.smpte-ra.org/schemas/429-9/2007/AM"><Path>${target}</Path></AssetMap></CompositionPlaylist>`;
const sdp = (target: string): string =>
  `v=0\no=- 0 0 IN IP4 127.0.0.1\ns=${target}\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio 5004 RTP/AVP 0\n`;

/** Name, text around the target. Half of them name a local file, half an address, by turns. */
const texts: [name: string, text: (target: string) => string][] = [
  ['list.m3u8', hls],
  ['encrypted.m3u8', encryptedHls],
  ['concat.wav', (target) => `ffconcat version 1.0\nfile '${target}'\noption safe 0\n`],
  ['manifest.mpd', dash],
  ['composition.xml', imf],
  ['session.sdp', sdp],
  ['reference.ref', (target) => `[Reference]\nRef1=${target}\nRef2=${target}?MSWMExt=.asf\n`],
  ['reference.mov', (target) => `RTSPtext${target}\n`],
  ['redirect.asx', (target) => `<ASX version="3.0"><Entry><Ref href="${target}"/></Entry></ASX>`],
  ['metadata.txt', (target) => `;FFMETADATA1\ntitle=${target}\n[STREAM]\nurl=${target}\n`],
  [
    'index.idx',
    (target) => `# VobSub index file, v7\nid: en, index: 0\n# ${target}\ntimestamp: 00:00:01:000, filepos: 0\n`,
  ],
  ['brain.sbg', (target) => `-SE\n-m ${target}\nalloff: -\nNOW alloff\n`],
  ['filter.lavfi', (target) => `amovie=${target}`],
  ['protocols.txt', (target) => `concat:${target}|subfile,,start,0,end,0,,:${target}|crypto:${target}\n`],
  // By relative name, to another machine's address, and to what every machine has.
  ['relative.m3u8', () => hls('canary.wav')],
  ['metadata.m3u8', () => hls('http://169.254.169.254/latest/meta-data/')],
  ['environment.m3u8', () => hls('/proc/self/environ')],
];

const asTexts: HostileFile[] = texts.map(([name, text], index) => {
  const where = index % 2 === 0 ? 'a local file' : 'an address';
  return {
    kind: 'playlists and manifests',
    name,
    made: `a text that sends its reader to ${where}`,
    make: ({ canary, url }: Bench) => Buffer.from(text(index % 2 === 0 ? canary : url)),
    outcome: unreadable,
  };
});

const picture: HostileFile = {
  kind: 'playlists and manifests',
  name: 'picture.png',
  made: 'a picture, as the first bytes of a playlist',
  make: async ({ ffmpeg, url }) =>
    Buffer.concat([await ffmpeg('png', '-f', 'lavfi', '-i', 'color=s=8x8', '-frames:v', '1'), Buffer.from(hls(url))]),
  outcome: silentPictures,
};

export const references: HostileFile[] = [...asTexts, picture];
