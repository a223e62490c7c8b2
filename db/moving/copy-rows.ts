/**
 * Rows from one server to another by PostgreSQL's COPY, as fast as the slower of both, however many and however large they
 * are. pg has no COPY of its own: it hands what comes to the query that runs.
 */
import type { Duplex } from 'node:stream';
import type { openConnection } from '../connection/database.ts';

export type Connection = ReturnType<typeof openConnection>;

/** The part of pg's connection that a COPY needs. */
interface Wire {
  readonly stream: Duplex;
  query(text: string): void;
}

interface CopyingWire extends Wire {
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
}

/** What pg calls of a query. */
class Copying {
  readonly #text: string;
  readonly #ended = Promise.withResolvers<number>();
  #rows = 0;

  constructor(text: string) {
    this.#text = text;
    // Who waits for something else hears of the failure there.
    this.#ended.promise.catch(() => {});
  }

  /** How many rows. */
  get ended(): Promise<number> {
    return this.#ended.promise;
  }

  submit(wire: Wire): void {
    wire.query(this.#text);
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.#rows = Number(text.split(' ').at(-1));
  }

  handleReadyForQuery(): void {
    this.#ended.resolve(this.#rows);
  }

  handleError(error: Error): void {
    this.#ended.reject(error);
  }
}

class CopyIn extends Copying {
  readonly #ready = Promise.withResolvers<CopyingWire>();

  get ready(): Promise<CopyingWire> {
    return Promise.race([this.#ready.promise, this.ended.then(() => Promise.reject(new Error('no COPY began')))]);
  }

  handleCopyInResponse(wire: CopyingWire): void {
    this.#ready.resolve(wire);
  }
}

class CopyOut extends Copying {
  readonly #onRow: (row: Buffer, wire: Wire) => void;

  constructor(text: string, onRow: (row: Buffer, wire: Wire) => void) {
    super(text);
    this.#onRow = onRow;
  }

  handleCopyData({ chunk }: { chunk: Buffer }, wire: Wire): void {
    this.#onRow(chunk, wire);
  }
}

/**
 * After a failure both connections are of no more use.
 *
 * @param statements.out `copy … to stdout`
 * @param statements.into `copy … from stdin`
 * @param onBytes hears of each row how long it is
 * @returns how many rows
 */
export async function copyRows(
  { from, to }: { from: Connection; to: Connection },
  statements: { out: string; into: string },
  onBytes: (bytes: number) => void,
): Promise<number> {
  const into = to.query(new CopyIn(statements.into));
  const target = await into.ready;
  const out = new CopyOut(statements.out, (row, source) => {
    onBytes(row.length);
    target.sendCopyFromChunk(row);
    if (!target.stream.writableNeedDrain || source.stream.isPaused()) return;
    source.stream.pause();
    target.stream.once('drain', () => source.stream.resume());
  });
  from.query(out);
  await Promise.race([out.ended, into.ended]);
  target.endCopyFrom();
  return into.ended;
}
