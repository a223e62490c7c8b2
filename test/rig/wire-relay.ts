/** The cable between a process and its database, which sees what passes and can stop it at a point. */
import { connect, createServer } from 'node:net';
import { doneOf, messageSplitter, sqlOf } from './wire-messages.ts';
import type { Server, Socket } from 'node:net';
import type { Message } from './wire-messages.ts';
import type { Passing, Point } from './points.ts';

export interface WireRelay {
  /** The database's URL through the relay; it stays. */
  readonly url: string;
  /**
   * Strikes when the point is reached for the `nth` time. From then on that connection carries nothing more.
   *
   * @param strike called at once, before anything else can happen on this cable; `cut` ends that connection
   */
  watch(point: Point, nth: number, strike: (cut: () => void) => void): void;
  unwatch(): void;
  /** Ends every connection and refuses new ones. */
  down(): void;
  /** Takes connections again. */
  up(): Promise<void>;
}

const enoughStatements = 64;

/** How a message goes on: to the other side, or no further; `then` once that has happened. */
interface Verdict {
  holds: boolean;
  then?: () => void;
}

/** @param port where it listens; nothing else may ever take it */
export async function startWireRelay(databaseUrl: string, port: number): Promise<WireRelay> {
  const target = new URL(databaseUrl);
  let watched: { point: Point; left: number; strike: (cut: () => void) => void } | undefined;
  let server: Server | undefined;
  const open = new Set<() => void>();

  const judge = (passing: Passing, cut: () => void): Verdict => {
    if (!watched?.point.isHere(passing)) return { holds: false };
    watched.left -= 1;
    if (watched.left > 0) return { holds: false };
    const { point, strike } = watched;
    watched = undefined;
    return { holds: point.passes !== true, then: () => strike(cut) };
  };

  const carry = (near: Socket) => {
    const far = connect(Number(target.port), target.hostname);
    const cut = () => {
      near.destroy();
      far.destroy();
    };
    open.add(cut);
    const connection = watchConnection((passing) => judge(passing, cut));
    const fromProcess = messageSplitter('process');
    const fromServer = messageSplitter('server');
    near.on('data', (chunk: Buffer) => connection.fromProcess(fromProcess(chunk), far));
    far.on('data', (chunk: Buffer) => connection.fromServer(fromServer(chunk), near));
    for (const socket of [near, far]) socket.setNoDelay().on('error', cut).on('close', cut);
    near.on('close', () => open.delete(cut));
  };

  const up = async () => {
    server = createServer(carry);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
    await promise;
  };
  await up();
  const url = Object.assign(new URL(databaseUrl), { hostname: '127.0.0.1', port: String(port) }).href;
  return {
    url,
    watch: (point, nth, strike) => void (watched = { point, left: nth, strike }),
    unwatch: () => void (watched = undefined),
    down() {
      server?.close();
      for (const cut of open) cut();
    },
    up,
  };
}

/** Remembers what the transaction of one connection has done so far. */
function watchConnection(judge: (passing: Passing) => Verdict) {
  let statements: string[] = [];
  let isHeld = false;
  const pass = (message: Message, passing: Omit<Passing, 'before'>, to: Socket) => {
    if (isHeld) return;
    const { holds, then } = judge({ ...passing, before: statements });
    isHeld = holds;
    if (!holds) to.write(message.bytes);
    then?.();
    if (passing.sql === 'begin' || passing.done === 'COMMIT' || passing.done === 'ROLLBACK') statements = [];
    else if (passing.sql !== undefined) statements = [...statements, passing.sql].slice(-enoughStatements);
  };
  return {
    fromProcess(messages: Message[], server: Socket) {
      for (const message of messages) pass(message, { sql: sqlOf(message), done: undefined }, server);
    },
    fromServer(messages: Message[], process: Socket) {
      for (const message of messages) pass(message, { sql: undefined, done: doneOf(message) }, process);
    },
  };
}
