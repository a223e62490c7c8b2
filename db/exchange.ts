/**
 * Statements go to PostgreSQL in one packet, as one transaction, and their answers come back in another. Two cost little more
 * than one then, since it is mostly packets and transactions that cost. That is PostgreSQL's extended query protocol with one
 * Sync (its documentation, "Message Flow", "Pipelining"). pg itself ends each statement with one, and has its columns
 * described each time.
 */
import type { Duplex } from 'node:stream';

/** A statement that each connection knows by its name. */
export interface NamedStatement {
  /** Always the same for the same text. */
  name: string;
  text: string;
  values: readonly unknown[];
}

/** How values go to PostgreSQL and come back. */
export interface Codec {
  encode(value: unknown): string | Buffer | null;
  /** @param typeId PostgreSQL's number of a type */
  decoderOf(typeId: number): (text: string) => unknown;
}

/** The part of pg's connection that is needed here. */
interface Connection {
  readonly stream: Duplex;
  parse(statement: { name: string; text: string }): void;
  bind(bound: { statement: string; values: readonly unknown[] }): void;
  describe(described: { type: 'P'; name: string }): void;
  execute(executed: { portal: string }): void;
  sync(): void;
}

/** pg's client, which gives the connection to what is asked, and tells it the answers. */
interface Client {
  query(exchange: Exchange): void;
}

export interface Pool {
  connect(told: (error: Error | undefined, client: Client | undefined, release: (error?: Error) => void) => void): void;
}

interface Column {
  name: string;
  decode: (text: string) => unknown;
}

/** What a connection was told last of a statement. */
interface Known {
  columns: readonly Column[];
  /** A row without values. Copies of it have the same shape. */
  blank: Readonly<Record<string, unknown>>;
}

type Told = (error: Error | undefined, answers: unknown[][]) => void;

const knownTo = new WeakMap<Connection, Map<string, Known>>();

/**
 * @param isPooled whether a pooler stands before the server
 * @returns the rows of each statement
 * @throws what one of them failed with; `isRefusedByServer` says whether certainly none has had an effect
 */
export async function exchange(
  pool: Pool,
  codec: Codec,
  statements: readonly NamedStatement[],
  isPooled: boolean,
): Promise<unknown[][]> {
  // Values that cannot be encoded must be found before anything is sent.
  const encoded = statements.map((statement) => ({ ...statement, values: statement.values.map(codec.encode) }));
  const { promise, resolve, reject } = Promise.withResolvers<unknown[][]>();
  pool.connect((noConnection, client, release) => {
    if (client === undefined) return reject(noConnection);
    const told: Told = (error, answers) => {
      // No connection is kept on which something failed: what it knows of its statements is uncertain.
      release(error);
      if (error === undefined) resolve(answers);
      else reject(error);
    };
    client.query(new Exchange(encoded, codec, isPooled, told));
  });
  try {
    return await promise;
  } catch (error) {
    // As pg does: else its stack would lead to a socket, and not to us.
    if (Error.isError(error)) Error.captureStackTrace(error);
    throw error;
  }
}

/** What pg calls a query: it calls `submit` and then the handlers of the messages that answer it. */
class Exchange {
  readonly #statements: readonly NamedStatement[];
  readonly #codec: Codec;
  readonly #isPooled: boolean;
  #told: Told;
  readonly #answers: unknown[][] = [];
  #known = new Map<string, Known>();
  #rows: unknown[] = [];
  #failure: Error | undefined;

  constructor(statements: readonly NamedStatement[], codec: Codec, isPooled: boolean, told: Told) {
    this.#statements = statements;
    this.#codec = codec;
    this.#isPooled = isPooled;
    this.#told = told;
  }

  /** Where pg has a limit of time for queries, it puts something here that stops its clock. */
  callback(): void {}

  submit(connection: Connection): void {
    const known = knownTo.get(connection) ?? new Map<string, Known>();
    knownTo.set(connection, known);
    this.#known = known;
    connection.stream.cork();
    for (const { name, text, values } of this.#statements) {
      const isNew = !known.has(name);
      if (isNew) connection.parse({ name, text });
      connection.bind({ statement: name, values });
      // A server refuses a statement whose columns have changed. A pooler may have sent it to another one as if it were new.
      if (isNew || this.#isPooled) connection.describe({ type: 'P', name: '' });
      connection.execute({ portal: '' });
    }
    connection.sync();
    connection.stream.uncork();
  }

  handleRowDescription({ fields }: { fields: readonly { name: string; dataTypeID: number }[] }): void {
    const columns = fields.map(({ name, dataTypeID }) => ({ name, decode: this.#codec.decoderOf(dataTypeID) }));
    const blank = Object.fromEntries(columns.map(({ name }) => [name, null]));
    this.#known.set(this.#statement.name, { columns, blank });
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    const { columns, blank } = this.#known.get(this.#statement.name)!;
    const row = { ...blank };
    try {
      for (let at = 0; at < columns.length; at += 1) {
        const { name, decode } = columns[at]!;
        const text = fields[at]!;
        if (text !== null) row[name] = decode(text);
      }
    } catch (error) {
      this.#failure ??= error as Error;
    }
    this.#rows.push(row);
  }

  handleCommandComplete(): void {
    const { name } = this.#statement;
    // A statement that returns nothing has no columns to be told of.
    if (!this.#known.has(name)) this.#known.set(name, { columns: [], blank: {} });
    this.#answers.push(this.#rows);
    this.#rows = [];
  }

  handleError(error: Error): void {
    this.#tell(error, []);
  }

  handleReadyForQuery(): void {
    this.#tell(this.#failure, this.#answers);
  }

  /** Once: a query that takes too long is an error, and one more when its connection is ended for that. */
  #tell(error: Error | undefined, answers: unknown[][]): void {
    const told = this.#told;
    this.#told = () => {};
    this.callback();
    told(error, answers);
  }

  /** The one that is being answered. */
  get #statement(): NamedStatement {
    return this.#statements[this.#answers.length]!;
  }
}
