/** Takes MP4 (ISO/IEC 14496-12) boxes apart and puts them together again, with honest sizes around dishonest contents. */

export const box = (type: string, ...contents: Buffer[]): Buffer => {
  const body = Buffer.concat(contents);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length + 8, 0);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, body]);
};

/**
 * The file with the first box at the end of `path` changed.
 * @param change gets what the box holds
 */
export function changeBox(bytes: Buffer, path: string[], change: (content: Buffer) => Buffer): Buffer {
  const [wanted, ...deeper] = path;
  const parts: Buffer[] = [];
  let isDone = false;
  for (let at = 0; at + 8 <= bytes.length;) {
    const size = bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + 8);
    const content = bytes.subarray(at + 8, at + size);
    const isWanted: boolean = type === wanted && !isDone;
    isDone ||= isWanted;
    parts.push(
      isWanted
        ? box(type, deeper.length === 0 ? change(content) : changeBox(content, deeper, change))
        : box(type, content),
    );
    at += size;
  }
  if (!isDone) throw new Error(`no box ${wanted}`);
  return Buffer.concat(parts);
}

/** Changes a number in the content of a box. */
export const writeInBox = (bytes: Buffer, path: string[], at: number, value: number): Buffer =>
  changeBox(bytes, path, (content) => {
    const changed = Buffer.from(content);
    changed.writeUInt32BE(value, at);
    return changed;
  });
