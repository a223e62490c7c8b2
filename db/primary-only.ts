/**
 * After a failover, connections that are still open may lead to a server that was demoted. It answers, but it takes no
 * writes any more, and what is read there grows old. Others lead to a server that is about to end.
 */
import type { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';

/** What is needed of pg's client; `connection` emits the messages of the server. */
interface Client {
  readonly connection: EventEmitter & { readonly stream: Duplex };
  end(): Promise<void>;
  query(text: string): Promise<{ rows: unknown[] }>;
}

interface Watched {
  client: Client;
  /** As the server last said: outside of a transaction, and nothing asked since. */
  isIdle: () => boolean;
  isUnwanted: boolean;
}

/** SQLSTATE of writes that a read-only server refused. They certainly had no effect. */
const readOnly = '25006';
const isEnding = (code: unknown) => /^57P0[1-5]$/.test(String(code));

/** Whether an error says that its connection leads to a server that was demoted or ends: another one may lead elsewhere. */
export const isServerLost = (error: unknown): boolean => isRefusedWrite(error) || isEnding(codeOf(error));

/** Whether a statement was refused because its server was demoted: it may run again elsewhere, whatever it writes. */
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

/** For pg-pool's option `onConnect`, and for a look from time to time. @throws when the server takes no writes */
export async function refuseReadOnly(client: Pick<Client, 'query'>): Promise<void> {
  const { rows } = await client.query('show transaction_read_only');
  if ((rows[0] as { transaction_read_only: string }).transaction_read_only === 'on') throw new ServerTakesNoWrites();
}

/** The connections of one pool. One that meets a demoted server takes all the others with it that are not new. */
export class PrimaryOnly {
  readonly #watched = new Set<Watched>();
  readonly #onDemoted: () => void;

  /** @param onDemoted hears that connections led to a server that takes no writes */
  constructor(onDemoted: () => void) {
    this.#onDemoted = onDemoted;
  }

  /** Called for each client before it connects. What it is in the middle of ends as the server says. */
  watch(client: Client): void {
    const { connection } = client;
    let status: string | undefined;
    const isIdle = () => status === 'I' && (client as { readyForQuery?: boolean }).readyForQuery === true;
    const watched: Watched = { client, isIdle, isUnwanted: false };

    // Before pg hears of them: once `end` was called, the pool does not take the client back.
    connection.prependListener('readyForQuery', (message: { status: string }) => {
      if (status === undefined) this.#watched.add(watched);
      status = message.status;
      if (watched.isUnwanted && status === 'I') void client.end();
    });
    connection.prependListener('errorMessage', ({ code }: { code?: string }) => {
      if (status === undefined) return;
      if (code === readOnly) this.#giveUp(watched);
      else if (isEnding(code)) void client.end();
    });
    // PostgreSQL 14 and newer tell these by themselves, with the answer to the next statement.
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

/** A pool hears of its idle connections' errors only. */
function breakOff({ connection }: Client): void {
  connection.stream.destroy(new Error('Connection terminated: the server takes no writes any more'));
}
