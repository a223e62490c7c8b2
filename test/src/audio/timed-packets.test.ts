/** How decoded packets are read from ffmpeg's output, however it comes. */
import * as fc from 'fast-check';
import { readTimedPackets } from '../../../src/audio/timed-packets.ts';

const header = Buffer.from('\0\nSMJPEG\0\0\0\0\0\0\x03\xe8HEND', 'latin1');

function packet(startMs: number, samples: Buffer): Buffer {
  const head = Buffer.from('sndD\0\0\0\0\0\0\0\0', 'latin1');
  head.writeUInt32BE(startMs, 4);
  head.writeUInt32BE(samples.length, 8);
  return Buffer.concat([head, samples]);
}

function chunksOf(output: Buffer, bytes: number): Buffer[] {
  const starts = Array.from({ length: Math.ceil(output.length / bytes) }, (_, index) => index * bytes);
  return starts.map((start) => output.subarray(start, start + bytes));
}

test('any packets in chunks of any size → the same packets', () => {
  const packets = fc.array(fc.record({ startMs: fc.nat(1_000_000), samples: fc.uint8Array({ maxLength: 200 }) }));
  fc.assert(
    fc.property(packets, fc.integer({ min: 1, max: 300 }), (packets, bytes) => {
      const output = packets.map(({ startMs, samples }) => packet(startMs, Buffer.from(samples)));
      const read = chunksOf(Buffer.concat([header, ...output]), bytes).flatMap(readTimedPackets());
      const expected = packets.map(({ startMs, samples }) => ({
        startMs,
        lengthMs: samples.length / 32,
        samples: Buffer.from(samples),
      }));
      expect(read.map(({ samples, ...place }) => ({ ...place, samples: Buffer.from(samples) }))).toEqual(expected);
    }),
  );
});

test('a packet that no codec makes → an error', () => {
  expect(() => readTimedPackets()(Buffer.concat([header, Buffer.alloc(12)]))).toThrow('ffmpeg wrote no packet');
  const longest = packet(0, Buffer.alloc(0));
  longest.writeUInt32BE(0xffff_ffff, 8);
  expect(() => readTimedPackets()(Buffer.concat([header, longest]))).toThrow('ffmpeg wrote no packet');
});
