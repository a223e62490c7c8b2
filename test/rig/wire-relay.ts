/** The cable between a process and its database, which sees what passes and can stop it at a point. */
import { connect, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
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

/** A message of the PostgreSQL wire protocol, version 3 ("Message Formats" in its manual). */
interface Message {
  /** One letter; empty for the first message of a connection, which has none. */
  type: string;
  /** What follows the length, each byte a character. */
  text: string;
  bytes: Buffer;
}

/** Cuts a stream of one direction into whole messages, however it was cut into chunks. */
function messageSplitter(from: 'process' | 'server'): (chunk: Buffer) => Message[] {
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
function sqlOf({ type, text }: Message): string | undefined {
  if (type === 'Q') return text.slice(0, text.indexOf('\0')).toLowerCase();
  // Parse: the statement's name, then its text.
  if (type === 'P') return text.split('\0', 2)[1]!.toLowerCase();
  return undefined;
}

/** What the server says it has done (`COMMIT`, `INSERT 0 1`); undefined for any other message. */
const doneOf = ({ type, text }: Message): string | undefined =>
  type === 'C' ? text.slice(0, text.indexOf('\0')) : undefined;
