/**
 * Notices a server that does not answer any more. In a network that loses packets, a query would wait for its whole
 * time limit. A connection whose other end is gone would wait until TCP gives up, after a quarter of an hour.
 */
import { Socket } from 'node:net';

const silentMs = 4_000;

/**
 * When a connection was silent for 4 s, the server is asked over a new one. When it does not answer there, the silent
 * connection is broken off. A server that is only slow at a statement answers there, so its connection stays until the
 * longest silence is over.
 */
export class SilenceWatch {
  readonly #answers: () => Promise<boolean>;
  readonly #longestSilenceMs: number;
  readonly #sockets = new Set<Socket>();
  #asking: Promise<boolean> | undefined;

  /**
   * @param answers asks the server over a new connection
   * @param longestSilenceMs after which a connection is broken off, whatever the server answers over another one
   */
  constructor(answers: () => Promise<boolean>, longestSilenceMs = Infinity) {
    this.#answers = answers;
    this.#longestSilenceMs = longestSilenceMs;
  }

  /** For pg's option `stream`: makes the socket of a connection that is watched from its first packet on. */
  readonly stream = (): Socket => {
    const socket = new Socket().setTimeout(silentMs);
    const count = () => socket.bytesRead + socket.bytesWritten;
    let [bytes, silentForMs] = [0, 0];
    const look = async () => {
      silentForMs = count() === bytes ? silentForMs + silentMs : silentMs;
      bytes = count();
      const isThere = silentForMs < this.#longestSilenceMs && (await this.#isThere());
      // Something may have come meanwhile: this process may have been stopped for a while.
      if (isThere || count() !== bytes) socket.setTimeout(silentMs);
      else breakOff(socket, 'the server is silent');
    };
    socket.on('timeout', () => void look());
    this.#sockets.add(socket);
    return socket.once('close', () => this.#sockets.delete(socket));
  };

  /** Breaks off all open connections: when one leads to the wrong server, the others may, too. */
  breakOffAll(): void {
    for (const socket of this.#sockets) breakOff(socket, 'the server takes no writes any more');
  }

  /** Calls at the same time share one question. */
  #isThere(): Promise<boolean> {
    this.#asking ??= this.#answers().finally(() => (this.#asking = undefined));
    return this.#asking;
  }
}

/**
 * With the code of a reset connection, of which pg says nothing while it ends a connection. Nobody would listen any more,
 * and an 'error' without a listener ends the process.
 */
function breakOff(socket: Socket, why: string): void {
  socket.destroy(Object.assign(new Error(`Connection terminated: ${why}`), { code: 'ECONNRESET' }));
}
