/** Ogg pages (RFC 3533), with a checksum that fits whatever was changed. */

function checksum(page: Buffer): number {
  let crc = 0;
  for (const byte of page) {
    crc ^= byte << 24;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x80000000 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
  }
  return crc >>> 0;
}

/** The file with a changed position in the last page. */
export function withLastGranule(bytes: Buffer, granule: bigint): Buffer {
  const changed = Buffer.from(bytes);
  const page = changed.subarray(changed.lastIndexOf('OggS'));
  page.writeBigInt64LE(granule, 6);
  page.writeUInt32LE(0, 22);
  page.writeUInt32LE(checksum(page), 22);
  return changed;
}
