import { bytesPerMs } from './samples.ts';
import type { Place } from './timeline.ts';

/**
 * ffmpeg's output arguments for decoded samples with their times, which {@link readTimedPackets} reads. ffmpeg mends
 * times that go back, but only where `dts` does.
 */
export const timedPackets = [
  ...['-bsf:a', "setts=pts='max(0,PTS)':dts=0"],
  // Whatever the file says of itself would stand in the header.
  ...['-map_metadata', '-1', '-fflags', '+bitexact', '-f', 'smjpeg', 'pipe:1'],
];

/** Samples with the place that ffmpeg gives them. */
export interface TimedPacket extends Place {
  samples: Buffer;
}

const endOfHeader = 'HEND';
const startOfPacket = 'sndD';
const packetHeaderBytes = 12;
/** ffmpeg's header has about a hundred bytes; no codec packs more than some seconds into one packet. */
const mostHeaderBytes = 4096;
const mostPacketBytes = 64 * 1024 * 1024;

/**
 * Reads smjpeg, the plainest of ffmpeg's formats that tell when each packet begins. After a header, a packet is `sndD`,
 * its start in ms and its length in bytes (both 32 bits, big endian), and its samples.
 * @returns hands over the packets that are whole with this chunk
 * @throws {Error} the output is not smjpeg
 */
export function readTimedPackets(): (chunk: Buffer) => TimedPacket[] {
  let rest = Buffer.alloc(0);
  let isBehindHeader = false;
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    if (!isBehindHeader) {
      const end = rest.indexOf(endOfHeader);
      if (end < 0 && rest.length > mostHeaderBytes) throw new Error('ffmpeg wrote no header');
      if (end < 0) return [];
      isBehindHeader = true;
      rest = rest.subarray(end + endOfHeader.length);
    }
    const packets: TimedPacket[] = [];
    let at = 0;
    while (rest.length - at >= packetHeaderBytes) {
      const bytes = rest.readUInt32BE(at + 8);
      if (rest.toString('latin1', at, at + 4) !== startOfPacket || bytes > mostPacketBytes)
        throw new Error('ffmpeg wrote no packet');
      const start = at + packetHeaderBytes;
      if (rest.length - start < bytes) break;
      const samples = rest.subarray(start, start + bytes);
      packets.push({ startMs: rest.readUInt32BE(at + 4), lengthMs: bytes / bytesPerMs, samples });
      at = start + bytes;
    }
    rest = rest.subarray(at);
    return packets;
  };
}
