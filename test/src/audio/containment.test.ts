import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';
import { decodeAudio } from '../../../src/audio/decode.ts';
import { measureAudio } from '../../../src/audio/measure.ts';
import { audioFolder, ffmpeg, sine } from '../../support/audio-fixtures.ts';

let folder: Awaited<ReturnType<typeof audioFolder>>;
let server: Server;
let connections = 0;
beforeAll(async () => {
  folder = await audioFolder();
  server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(async () => {
  server.close();
  await folder.remove();
});

const hls = (target: string): string =>
  `#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:10,\n${target}\n#EXT-X-ENDLIST\n`;
const concat = (target: string): string => `ffconcat version 1.0\nfile '${target}'\n`;
const dash = (target: string): string =>
  `<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT2S" ` +
  `profiles="urn:mpeg:dash:profile:isoff-on-demand:2011"><Period><AdaptationSet mimeType="audio/mp4"><Representation ` +
  `id="1" bandwidth="1"><BaseURL>${target}</BaseURL></Representation></AdaptationSet></Period></MPD>`;
const sdp = (target: string): string =>
  `v=0\no=- 0 0 IN IP4 127.0.0.1\ns=${target}\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio 5004 RTP/AVP 0\n`;
const reference = (target: string): string => `[Reference]\nRef1=${target}\n`;
const m3u = (target: string): string => `#EXTM3U\n${target}\n`;

test.each([
  ['HLS playlist', hls],
  ['concat script', concat],
  ['DASH manifest', dash],
  ['SDP', sdp],
  ['ASX reference', reference],
  ['M3U playlist', m3u],
])('%s named x.mp3 that names a local file or an address → unsupported_media, opened nothing', async (_, make) => {
  const victim = await ffmpeg(...sine(1), join(folder.path, 'victim.wav'));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.mp3`;
  const input = join(folder.path, 'x.mp3');
  for (const target of [victim, 'victim.wav', `file:${victim}`, url, `tcp://${url.slice(7)}`]) {
    await writeFile(input, make(target));
    const refused = { code: 'unsupported_media' };
    await expect(measureAudio(input, { timeLimitMs: 10_000 })).rejects.toMatchObject(refused);
    const decoding = { input, output: join(folder.path, 'decoded'), maxDurationMs: 10_000, timeLimitMs: 10_000 };
    await expect(decodeAudio(decoding)).rejects.toMatchObject(refused);
  }
  expect(connections).toBe(0);
});

test('the same playlist without our lists → ffmpeg opens the address, so the test above can fail', async () => {
  const input = join(folder.path, 'y.m3u8');
  await writeFile(input, hls(`http://127.0.0.1:${(server.address() as AddressInfo).port}/a.mp3`));
  const allowed = ['-protocol_whitelist', 'file,http,tcp', '-i', input, '-f', 'null', '-'];
  await expect(ffmpeg(...allowed)).rejects.toThrow();
  expect(connections).toBeGreaterThan(0);
});
