/**
 * Spells the heads of a form's parts in the one way that its parser reads. Clients that are no browsers leave out the name of the
 * file (RFC 7578, section 4.2, only recommends one), write it without quotes, in Latin-1, in pieces (RFC 2231, section 3) or
 * damaged, and put white space behind boundaries (RFC 2046, section 5.1.1). The content of parts is passed on uncopied.
 */

const headEnd = Buffer.from('\r\n\r\n');
const nothing = Buffer.of();
/** The parser of the form takes no longer heads. */
const maxHeadBytes = 16 * 1024;

export class PartHeads {
  /** Its line break belongs to the boundary. */
  readonly #delimiter: Buffer;
  /** Bytes that may be the beginning of a boundary or a head. The first boundary of a body comes without a line break. */
  #held: Buffer = Buffer.from('\r\n');
  #isOver = false;

  constructor(boundary: string) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
  }

  pass(chunk: Buffer): Buffer {
    if (this.#isOver) return chunk;
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    this.#held = nothing;
    const pieces: Buffer[] = [];
    let passed = 0;
    for (let from = 0; !this.#isOver;) {
      const start = bytes.indexOf(this.#delimiter, from);
      if (start === -1) {
        this.#held = this.#beginningAtEndOf(bytes.subarray(from));
        break;
      }
      const behind = start + this.#delimiter.length;
      const line = /^(--|[ \t]*\r\n)/.exec(bytes.toString('latin1', behind, behind + maxHeadBytes))?.[1];
      const end = line === undefined || line === '--' ? -1 : bytes.indexOf(headEnd, behind + line.length - 2);
      if (line === '--') this.#isOver = true;
      else if (end !== -1) {
        const first = behind + line!.length;
        const head = bytes.toString('latin1', first, Math.max(first, end));
        const spelled = `\r\n${spell(head)}`;
        if (spelled !== line! + head) {
          pieces.push(bytes.subarray(passed, behind), Buffer.from(spelled, 'latin1'));
          passed = Math.max(first, end);
        }
        from = end + headEnd.length;
      } else if (bytes.length - start > maxHeadBytes) this.#isOver = true;
      else if (line !== undefined || /^(-|[ \t]*\r?)$/.test(bytes.toString('latin1', behind))) {
        this.#held = bytes.subarray(start);
        break;
      } else from = behind;
    }
    const rest = bytes.subarray(passed, bytes.length - this.#held.length);
    if (pieces.length > 0) return Buffer.concat([...pieces, rest]);
    return rest.length === bytes.length ? bytes : rest;
  }

  /** The bytes that are still held when the body ends. */
  rest(): Buffer {
    return this.#held;
  }

  /** Only their first byte is a line break. */
  #beginningAtEndOf(bytes: Buffer): Buffer {
    const at = bytes.lastIndexOf('\r');
    const tail = at === -1 ? nothing : bytes.subarray(at);
    return this.#delimiter.subarray(0, tail.length).equals(tail) ? tail : nothing;
  }
}

/** With the lines that go on with white space. */
const disposition = /^content-disposition:[ \t]*form-data([^\r\n]*(?:\r\n[ \t][^\r\n]*)*)/im;
const parameter = /;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\[^])*)"|([^;]*))/g;

/** @param head lines of a part, whose characters are bytes */
function spell(head: string): string {
  return head.replace(disposition, (line: string, given: string) => {
    const parameters = new Map(
      [...given.matchAll(parameter)].map(([, name, quoted, bare = '']) => [
        name!.toLowerCase(),
        quoted?.replaceAll(/\\(["\\])/g, '$1') ?? bare.trim().replace(/^"/, ''),
      ]),
    );
    const name = parameters.get('name');
    // With control characters it is malformed, and refused as that.
    if (name === undefined || /[\x00-\x08\v\f\x0e-\x1f\x7f]/.test(line)) return line;
    // Called only a dot, the session is "Untitled".
    const fileName = fileNameOf(parameters) ?? (name === 'file' ? '.' : undefined);
    const file = fileName === undefined ? '' : `; filename="${asQuoted(fileName)}"`;
    return `Content-Disposition: form-data; name="${asQuoted(decoded(name))}"${file}`;
  });
}

/** Undefined without one, and for one that is empty unless it is all that says that this is a file. */
function fileNameOf(parameters: ReadonlyMap<string, string>): string | undefined {
  const pieces = [...parameters]
    .flatMap(([name, value]) => {
      const [, place, isExtended] = /^filename\*(\d*)(\*?)$/.exec(name) ?? [];
      if (place === undefined) return [];
      return [{ place: Number(place), value: isExtended || place === '' ? unescaped(value) : value }];
    })
    .sort((one, other) => one.place - other.place);
  // The charset is not believed: what is UTF-8 is that.
  const extended = pieces
    .map(({ value }) => value)
    .join('')
    .replace(/^[\w-]*'[\w-]*'/, '');
  const plain = parameters.get('filename');
  const fileName = extended === '' ? plain : extended;
  return fileName === '' && parameters.get('name') === 'file' ? undefined : fileName && decoded(fileName);
}

const unescaped = (text: string) =>
  text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** @param bytes as characters: of UTF-8, else of Latin-1 */
function decoded(bytes: string): string {
  try {
    return utf8.decode(Buffer.from(bytes, 'latin1'));
  } catch {
    return bytes;
  }
}

/** As browsers write it (HTML, "multipart/form-data encoding algorithm"), in bytes of UTF-8. A backslash only divides folders. */
const asQuoted = (text: string) =>
  Buffer.from(
    text
      .replaceAll('"', '%22')
      .replaceAll('\r', '%0D')
      .replaceAll('\n', '%0A')
      .replaceAll(/[\x00-\x1f\x7f]/g, '')
      .replaceAll('\\', '/'),
  ).toString('latin1');
