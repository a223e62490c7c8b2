/** Messages of the PostgreSQL wire protocol, version 3 ("Message Formats" in its manual). */

export interface Message {
  /** One letter; empty for the first message of a connection, which has none. */
  type: string;
  /** What follows the length, each byte a character. */
  text: string;
  bytes: Buffer;
}

/** Cuts a stream of one direction into whole messages, however it was cut into chunks. */
export function messageSplitter(from: 'process' | 'server'): (chunk: Buffer) => Message[] {
  let isFirst = from === 'process';
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const messages: Message[] = [];
    for (;;) {
      const lengthAt = isFirst ? 0 : 1;
      if (rest.length < lengthAt + 4) return messages;
      const end = lengthAt + rest.readUInt32BE(lengthAt);
      if (rest.length < end) return messages;
      const bytes = rest.subarray(0, end);
      const type = isFirst ? '' : String.fromCharCode(bytes[0]!);
      messages.push({ type, text: bytes.toString('latin1', lengthAt + 4), bytes });
      rest = rest.subarray(end);
      isFirst = false;
    }
  };
}

/** The SQL that a message brings, in lower case; undefined when it brings none. */
export function sqlOf({ type, text }: Message): string | undefined {
  if (type === 'Q') return text.slice(0, text.indexOf('\0')).toLowerCase();
  // Parse: the statement's name, then its text.
  if (type === 'P') return text.split('\0', 2)[1]!.toLowerCase();
  return undefined;
}

/** What the server says it has done (`COMMIT`, `INSERT 0 1`); undefined for any other message. */
export const doneOf = ({ type, text }: Message): string | undefined =>
  type === 'C' ? text.slice(0, text.indexOf('\0')) : undefined;
