/**
 * Two statements about one account in one packet over one connection, and their answers in another: a request is counted, and
 * what it asks for is read. Two cost little more than one then, since it is mostly the packets that cost.
 */
import { isServerLost } from './primary-only.ts';
import type { Duplex } from 'node:stream';

/** A statement that each connection knows by its name. */
export interface NamedStatement {
  /** Always the same for the same text. */
  name: string;
  text: string;
  values: unknown[];
}

export interface HowToRun {
  isRead: boolean;
  /** Of the account that the statement is about, if that is a single one. */
  accountId: string | undefined;
  /** Whether it waits for a second one about the account. */
  leads: boolean;
}

interface Answer {
  rows: unknown[];
}

type Told = (error: Error | null, answer: Answer) => void;
type Release = (error?: Error) => void;

/** The part of pg's client that is needed here. */
interface Client {
  readonly connection: { readonly stream: Duplex };
  query(statement: NamedStatement, told: Told): void;
}

interface Pool {
  query(statement: NamedStatement): Promise<Answer>;
  connect(told: (error: Error | undefined, client: Client | undefined, release: Release) => void): void;
}

interface Asked extends PromiseWithResolvers<Answer> {
  statement: NamedStatement;
}

/** Each keeps a connection until it is answered. Whoever reads something else always finds one. */
const mostFollowing = 4;

export class Lines {
  readonly #pool: Pool;
  /** What goes out when this turn of the event loop is over. */
  #lines: Asked[][] = [];
  /** The last line of each account. */
  #last = new Map<string, Asked[]>();
  /** Second statements that are not answered yet. */
  #following = 0;

  /** @param pool its clients must have pg's option `pipeline`: they send a statement before the last one is answered */
  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Runs a statement that waits for a second one until this turn of the event loop is over. */
  lead(accountId: string, statement: NamedStatement): Promise<Answer> {
    if (this.#lines.length === 0) setImmediate(() => this.#sendAll());
    const asked = { statement, ...Promise.withResolvers<Answer>() };
    const line = [asked];
    this.#lines.push(line);
    this.#last.set(accountId, line);
    return asked.promise;
  }

  /** Whether a statement about this account waits for a second one, and may have it. */
  hasSeat(accountId: string): boolean {
    return this.#following < mostFollowing && this.#last.get(accountId)?.length === 1;
  }

  /** Runs a statement as the second one, or alone when none waits for it. It must only read, since it may be run again. */
  follow(accountId: string, statement: NamedStatement): Promise<Answer> {
    if (!this.hasSeat(accountId)) return this.#pool.query(statement);
    const asked = { statement, ...Promise.withResolvers<Answer>() };
    this.#last.get(accountId)!.push(asked);
    this.#following += 1;
    return asked.promise.finally(() => (this.#following -= 1));
  }

  #sendAll(): void {
    const lines = this.#lines;
    this.#lines = [];
    this.#last = new Map();
    for (const line of lines) this.#send(line);
  }

  #send(line: readonly Asked[]): void {
    this.#pool.connect((error, client, release) => {
      if (client === undefined) for (const { reject } of line) reject(error);
      else sendOver(client, line, release);
    });
  }
}

function sendOver(client: Client, line: readonly Asked[], release: Release): void {
  let unanswered = line.length;
  let failure: Error | undefined;
  const { stream } = client.connection;
  stream.cork();
  for (const { statement, resolve, reject } of line) {
    client.query(statement, (error, result) => {
      // What comes after a server was lost says less, and may be old.
      if (!isServerLost(failure)) failure = error ?? failure;
      unanswered -= 1;
      // As pg-pool does, which keeps no connection on which something failed.
      if (unanswered === 0) release(failure);
      if (isServerLost(failure)) reject(failure);
      else if (error === null) resolve(result);
      else reject(error);
    });
  }
  stream.uncork();
}
