import { bytesPerMs } from './samples.ts';

/** ffmpeg mends times that go back, but only where `dts` does. Neither of the formats here has times below 0. */
export const packetTimes = ['-bsf:a', "setts=pts='max(0,if(isnan(PTS),DTS,PTS))':dts=0"];

/** ffmpeg's output arguments for decoded samples with their times, which {@link readTimedPackets} reads. */
export const timedPackets = [
  ...packetTimes,
  // Whatever the file says of itself would stand in the header.
  ...['-map_metadata', '-1', '-fflags', '+bitexact', '-f', 'smjpeg', 'pipe:1'],
];

/** Samples with the time that ffmpeg gives them. */
export interface TimedPacket {
  startMs: number;
  lengthMs: number;
  samples: Buffer;
}

const endOfHeader = 'HEND';
const startOfPacket = 'sndD';
const packetHeaderBytes = 12;
/** No codec packs more than some seconds into one packet. */
const mostPacketBytes = 64 * 1024 * 1024;

/**
 * Reads smjpeg, the plainest of ffmpeg's formats that tell when each packet begins. After a header, a packet is `sndD`,
 * its start in ms and its length in bytes (both 32 bits, big endian), and its samples. At one sample per second, a packet
 * has 32 MB: chunks are joined once, when all of it is there.
 * @returns hands over the packets that are whole with this chunk
 * @throws {Error} the output is not smjpeg
 */
export function readTimedPackets(): (chunk: Buffer) => TimedPacket[] {
  let chunks: Buffer[] = [];
  let gatheredBytes = 0;
  /** With so many, there is something to read. */
  let neededBytes = 0;
  let isBehindHeader = false;
  return (chunk) => {
    chunks.push(chunk);
    gatheredBytes += chunk.length;
    if (gatheredBytes < neededBytes) return [];
    const gathered = Buffer.concat(chunks);
    let at = isBehindHeader ? 0 : lengthOfHeader(gathered);
    isBehindHeader ||= at > 0;
    const packets: TimedPacket[] = [];
    while (isBehindHeader) {
      neededBytes = packetHeaderBytes + bytesOfPacket(gathered, at);
      if (gathered.length - at < neededBytes) break;
      const samples = gathered.subarray(at + packetHeaderBytes, at + neededBytes);
      packets.push({ startMs: gathered.readUInt32BE(at + 4), lengthMs: samples.length / bytesPerMs, samples });
      at += neededBytes;
    }
    chunks = [gathered.subarray(at)];
    gatheredBytes = gathered.length - at;
    return packets;
  };
}

/** @returns 0 while it is not whole */
function lengthOfHeader(output: Buffer): number {
  const end = output.indexOf(endOfHeader);
  return end < 0 ? 0 : end + endOfHeader.length;
}

/** @returns 0 while its header is not whole */
function bytesOfPacket(output: Buffer, at: number): number {
  if (output.length - at < packetHeaderBytes) return 0;
  const bytes = output.readUInt32BE(at + 8);
  if (output.toString('latin1', at, at + 4) !== startOfPacket || bytes > mostPacketBytes)
    throw new Error('ffmpeg wrote no packet');
  return bytes;
}
