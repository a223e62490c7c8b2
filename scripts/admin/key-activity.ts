/** `keys activity`: what a key did, by the API's log. */
import { createReadStream } from 'node:fs';
import { Refusal } from '../terminal/refusal.ts';
import { count, minuteOf, table } from '../terminal/table.ts';
import { findKey, keyJson, keyStatus, shownKey } from './key-lookup.ts';
import type { Readable } from 'node:stream';
import type { AdminContext } from './admin-context.ts';
import type { Report } from './command.ts';
import type { KeyReference } from './key-lookup.ts';

/** A line of the log about a request, as `src/api/answers/response-log.ts` writes it. */
interface LoggedRequest {
  time: number;
  method: string;
  operation: string;
  status: number | 'none';
  keyId?: string;
  sessionId?: string;
  address?: string;
}

interface Deed {
  sessionId: string;
  what: string;
  address: string | undefined;
  times: number;
  /** RFC 3339. */
  first: string;
  last: string;
}

/** @param logs files, or `-` for standard input */
export async function showActivity(
  { db }: Pick<AdminContext, 'db'>,
  reference: KeyReference,
  logs: string[],
  stdin: Readable,
): Promise<Report> {
  const key = await findKey(db, reference);
  const requests: LoggedRequest[] = [];
  for (const log of logs) requests.push(...(await Array.fromAsync(requestsOf(key.id, log, stdin))));
  requests.sort((a, b) => a.time - b.time);
  const answered = requests.filter(isAnswered);
  const lists = answered.filter(({ operation }) => operation === 'listSessions');
  const deeds = deedsOf(answered);
  const columns = ['Session', 'What', 'First (UTC)', 'Last (UTC)', 'From'];
  const rows = deeds.map(({ sessionId, what, first, last, address }) => [
    ...[sessionId, what, minuteOf(first), minuteOf(last), address ?? 'unknown'],
  ]);
  const refused = requests.length - answered.length;
  return {
    json: { ...keyJson(key), requests: requests.length, refused, lists: shownLists(lists), deeds },
    text: [
      `Key ${shownKey(key)} (${key.id}) of account ${key.account_id}, ${keyStatus(key)}.`,
      `${count(requests.length, 'request')} in this log, ${refused} of them refused or not answered.`,
      `${count(lists.length, 'answer')} listed or searched sessions: their titles, and passages around what was searched.`,
      ...shownLists(lists).map(({ address, times, first, last }) => {
        return `  from ${address ?? 'unknown'}: ${times}, ${minuteOf(first)} to ${minuteOf(last)}`;
      }),
      '',
      table(columns, rows, 'No session was read, looked at or uploaded by its id.'),
    ].join('\n'),
  };
}

async function* requestsOf(keyId: string, log: string, stdin: Readable): AsyncGenerator<LoggedRequest> {
  const input = log === '-' ? stdin : createReadStream(log);
  try {
    for await (const line of linesOf(input)) {
      const logged = line.includes(keyId) ? parsed(line) : undefined;
      if (logged?.msg === 'request' && logged.keyId === keyId) yield logged;
    }
  } catch (error) {
    throw new Refusal(`The log can not be read: ${(error as Error).message}`);
  }
}

/** Node's readline ends as if all were read where its input fails. */
async function* linesOf(input: Readable): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of input.setEncoding('utf8')) {
    const whole = `${rest}${chunk as string}`.split('\n');
    rest = whole.pop()!;
    yield* whole;
  }
  yield rest;
}

/** Undefined for the first line of a log that was cut off. */
function parsed(line: string): (LoggedRequest & { msg?: string }) | undefined {
  try {
    return JSON.parse(line) as LoggedRequest & { msg?: string };
  } catch {
    return undefined;
  }
}

const isAnswered = ({ status }: LoggedRequest) => status !== 'none' && status < 400;

/** A `HEAD` shows only that there is a transcript. */
function whatOf({ operation, method }: LoggedRequest): string {
  if (operation === 'createTranscription') return 'uploaded';
  return operation === 'getTranscript' && method === 'GET' ? 'read' : 'looked at';
}

function deedsOf(requests: LoggedRequest[]): Deed[] {
  const deeds = new Map<string, Deed>();
  for (const request of requests) {
    const { sessionId, address, time } = request;
    if (sessionId === undefined) continue;
    const what = whatOf(request);
    const at = new Date(time).toISOString();
    const name = [sessionId, what, address].join();
    const deed = deeds.get(name) ?? { sessionId, what, address, times: 0, first: at, last: at };
    deeds.set(name, { ...deed, times: deed.times + 1, last: at });
  }
  return [...deeds.values()];
}

/** How often each address listed. */
function shownLists(lists: LoggedRequest[]): Omit<Deed, 'sessionId' | 'what'>[] {
  const all = deedsOf(lists.map((request) => ({ ...request, sessionId: '' })));
  return all.map(({ address, times, first, last }) => ({ address, times, first, last }));
}
