/**
 * After a failover, open connections may lead to a server that was demoted: it answers, but takes no writes, and its
 * data grows old. Others may lead to a server that is about to end.
 */
import type { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';

/** The part of pg's client that is needed here. `connection` emits the messages of the server. */
interface Client {
  readonly connection: EventEmitter & { readonly stream: Duplex };
  end(): Promise<void>;
  query(text: string): Promise<{ rows: unknown[] }>;
}

interface Watched {
  client: Client;
  /** Whether the server last said that no transaction is open, and nothing was asked since. */
  isIdle: () => boolean;
  isUnwanted: boolean;
}

/** SQLSTATE of a write that a read-only server refused. The write certainly had no effect. */
const readOnly = '25006';
const isEnding = (code: unknown) => /^57P0[1-5]$/.test(String(code));

/**
 * Whether the error says that the connection leads to a server that was demoted or ends. Another connection may lead to
 * another server.
 */
export const isServerLost = (error: unknown): boolean => isRefusedWrite(error) || isEnding(codeOf(error));

/** Whether a statement was refused because its server was demoted. It may run again elsewhere, whatever it writes. */
export const isRefusedWrite = (error: unknown): boolean => codeOf(error) === readOnly;

const codeOf = (error: unknown) => (Error.isError(error) && 'code' in error ? error.code : undefined);

/** A connection was made, but to a standby or to a server that was demoted. */
class ServerTakesNoWrites extends Error {
  override readonly name = 'ServerTakesNoWrites';
  readonly code = readOnly;

  constructor() {
    super('The database server takes no writes: it is a standby, or it was demoted');
  }
}

/**
 * For pg-pool's option `onConnect`, and for checks from time to time.
 * @throws when the server takes no writes
 */
export async function refuseReadOnly(client: Pick<Client, 'query'>): Promise<void> {
  const { rows } = await client.query('show transaction_read_only');
  if ((rows[0] as { transaction_read_only: string }).transaction_read_only === 'on') throw new ServerTakesNoWrites();
}

/** The connections of one pool. When one of them meets a demoted server, all others that are not new are ended, too. */
export class PrimaryOnly {
  readonly #watched = new Set<Watched>();
  readonly #onDemoted: () => void;

  /** @param onDemoted hears that connections led to a server that takes no writes */
  constructor(onDemoted: () => void) {
    this.#onDemoted = onDemoted;
  }

  /** Watches a client; call it before the client connects. A query that is under way ends as the server says. */
  watch(client: Client): void {
    const { connection } = client;
    let status: string | undefined;
    const isIdle = () => status === 'I' && (client as { readyForQuery?: boolean }).readyForQuery === true;
    const watched: Watched = { client, isIdle, isUnwanted: false };

    // This listener runs before pg's own: after `end` was called, the pool does not take the client back.
    connection.prependListener('readyForQuery', (message: { status: string }) => {
      if (status === undefined) this.#watched.add(watched);
      status = message.status;
      if (watched.isUnwanted && status === 'I') void client.end();
    });
    connection.prependListener('errorMessage', ({ code }: { code?: string }) => {
      if (status === undefined) return;
      if (code === readOnly) this.#giveUp(watched);
      else if (isEnding(code)) {
        void client.end();
        // Nothing comes any more, and the network may not say so.
        connection.stream.destroy();
      }
    });
    // PostgreSQL 14 and newer tell these without being asked, with the answer to the next statement.
    connection.on('parameterStatus', ({ parameterName: name, parameterValue: value }: ParameterStatus) => {
      const isAboutWrites = name === 'default_transaction_read_only' || name === 'in_hot_standby';
      if (status !== undefined && isAboutWrites && value === 'on') this.#giveUp(watched);
    });
    connection.once('end', () => this.#watched.delete(watched));
  }

  #giveUp(found: Watched): void {
    if (found.isUnwanted) return;
    for (const watched of this.#watched) {
      watched.isUnwanted = true;
      if (watched !== found && watched.isIdle()) breakOff(watched.client);
    }
    this.#watched.clear();
    this.#onDemoted();
  }
}

interface ParameterStatus {
  parameterName: string;
  parameterValue: string;
}

/** A pool hears only of errors of its idle connections. */
function breakOff({ connection }: Client): void {
  connection.stream.destroy(new Error('Connection terminated: the server takes no writes any more'));
}
