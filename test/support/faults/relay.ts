/** The cable between a process and its database: a test cuts and mends it, and stops it at a point of what passes. */
import { connect, createServer } from 'node:net';
import { steadyPort } from '../../rig/ports.ts';
import { atEnd } from '../at-end.ts';
import type { Server, Socket } from 'node:net';
import type { Passing, Point } from '../../rig/points.ts';

export interface Relay {
  /** The database's URL through the relay; it stays. */
  url: string;
  /** Breaks every connection and refuses new ones; after the last test of the file at the latest. */
  cut(): void;
  mend(): Promise<void>;
  /** From now on nothing arrives any more, and nobody is told: not even that new connections lead nowhere. */
  swallow(): void;
  /** New connections work again; the old ones stay dead without knowing it. */
  flow(): void;
  /** New connections lead to another server; the old ones stay as they are. */
  leadTo(databaseUrl: string): void;
  /**
   * Strikes when the point is reached for the `nth` time. From then on that connection carries nothing more.
   *
   * @param strike called at once, before anything else can happen on this cable; `cut` ends that connection
   */
  watch(point: Point, nth: number, strike: (cut: () => void) => void): void;
  unwatch(): void;
}

const enoughStatements = 64;

export async function startRelay(databaseUrl: string): Promise<Relay> {
  const port = await steadyPort();
  let target = new URL(databaseUrl);
  let watched: { point: Point; left: number; strike: (cut: () => void) => void } | undefined;
  let server: Server | undefined;
  let isSwallowing = false;
  const open = new Set<{ cut(): unknown; swallow(): void }>();

  const judge = (passing: Passing, cut: () => void): Verdict => {
    if (!watched?.point.isHere(passing)) return { holds: false };
    watched.left -= 1;
    if (watched.left > 0) return { holds: false };
    const { point, strike } = watched;
    watched = undefined;
    return { holds: point.passes !== true, then: () => strike(cut) };
  };

  const carry = (near: Socket) => {
    if (isSwallowing) {
      near.on('error', () => near.destroy()).pause();
      return void open.add({ cut: () => near.destroy(), swallow: () => {} });
    }
    const far = connect(Number(target.port), target.hostname);
    const both = [near, far];
    let isDead = false;
    const cut = () => both.forEach((socket) => socket.destroy());
    // Not even the end of a connection is read any more.
    const swallow = () => {
      isDead = true;
      for (const socket of both) socket.pause();
    };
    const carried = { cut, swallow };
    open.add(carried);
    const connection = watchConnection((passing) => judge(passing, cut));
    const fromProcess = messageSplitter('process');
    const fromServer = messageSplitter('server');
    near.on('data', (chunk: Buffer) => connection.fromProcess(fromProcess(chunk), far));
    far.on('data', (chunk: Buffer) => connection.fromServer(fromServer(chunk), near));
    const over = () => {
      if (isDead) return;
      cut();
      open.delete(carried);
    };
    for (const socket of both) socket.setNoDelay().on('error', over).on('close', over);
  };

  const mend = async () => {
    server = createServer(carry);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
    await promise;
  };
  const cut = () => {
    server?.close();
    for (const carried of open) carried.cut();
    open.clear();
  };
  await mend();
  atEnd(cut);
  return {
    url: Object.assign(new URL(databaseUrl), { hostname: '127.0.0.1', port: String(port) }).href,
    ...{ cut, mend },
    swallow() {
      isSwallowing = true;
      for (const carried of open) carried.swallow();
    },
    flow: () => void (isSwallowing = false),
    leadTo: (other) => void (target = new URL(other)),
    watch: (point, nth, strike) => void (watched = { point, left: nth, strike }),
    unwatch: () => void (watched = undefined),
  };
}

/** How a message goes on: to the other side, or no further; `then` once that has happened. */
interface Verdict {
  holds: boolean;
  then?: () => void;
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
