/** The worst that one account can do, in several ways. Each way goes on until it is ended, and counts its answers. */
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { newApiKey } from '../../src/api/access/api-key.ts';
import type { Form } from './upload-client.ts';

/** What a greedy account sends, and to which server. */
export interface Greed {
  url: string;
  key: string;
  /** One of its sessions, with a transcript of hours. */
  longSession: string;
  forms: Record<'wav' | 'm4a' | 'amr' | 'noise', Form>;
  /** How many clients it has: 1 is the most that the service must stand, 2 is twice as many. */
  times: number;
  /** Aborts when it is to end. */
  signal: AbortSignal;
}

/** How often each answer came: a status such as `202`, or `closed` for a connection that was closed. */
export type Answers = Record<string, number>;

interface Way {
  run(greed: Greed, answers: Answers): Promise<unknown>;
  /** The answers that it may get. */
  decided: RegExp;
}

export const ways = {
  '500 uploads and 1,000 long polls at once': { run: burst, decided: /^(202|429|200)$/ },
  'uploads of m4a, 50 clients': {
    run: (greed, answers) => uploadAll(greed, answers, 'm4a', 50),
    decided: /^(202|429)$/,
  },
  'AMR of 46 hours, 10 clients': {
    run: (greed, answers) => uploadAll(greed, answers, 'amr', 10),
    decided: /^(422|429)$/,
  },
  'bodies that are no audio, 50 clients': {
    run: (greed, answers) => uploadAll(greed, answers, 'noise', 50),
    decided: /^(415|429)$/,
  },
  'slow uploads, 100 clients': { run: slowly, decided: /^left$/ },
  'transcripts of 4 hours with words, 20 clients': {
    run: (greed, answers) =>
      again(greed, 20, () => get(greed, `/v1/sessions/${greed.longSession}/transcript?include=words`, answers)),
    decided: /^200$/,
  },
  'captions of 4 hours, 20 clients': {
    run: (greed, answers) =>
      again(greed, 20, () => get(greed, `/v1/sessions/${greed.longSession}/transcript?format=vtt`, answers)),
    decided: /^200$/,
  },
  'pages of 100 by status, 50 clients': { run: pages, decided: /^200$/ },
  'keys that nobody has, 50 clients': {
    run: (greed, answers) => again(greed, 50, () => get({ ...greed, key: newApiKey() }, '/v1/sessions', answers)),
    decided: /^(401|closed)$/,
  },
} satisfies Record<string, Way>;

export type WayName = keyof typeof ways;

const agent = new Agent({ keepAlive: true, maxSockets: Infinity });

/** Runs so many clients. Each sends one request after the other. */
function again({ times, signal }: Greed, clients: number, send: (client: number) => Promise<unknown>) {
  const client = async (index: number) => {
    while (!signal.aborted) await send(index);
  };
  return Promise.all(Array.from({ length: Math.max(1, Math.round(clients * times)) }, (_, index) => client(index)));
}

interface Answered {
  status: string;
  body: string;
}

/** Sends a request and counts its answer. A request without an answer at the end of the round is given up. */
function ask(
  { url, key, signal }: Greed,
  method: string,
  path: string,
  answers: Answers,
  form?: Pick<Form, 'headers' | 'pieces'>,
): Promise<Answered> {
  const { promise, resolve } = Promise.withResolvers<Answered>();
  const end = (status: string, body = '') => {
    if (!signal.aborted) answers[status] = (answers[status] ?? 0) + 1;
    resolve({ status, body });
  };
  const headers = { Authorization: `Bearer ${key}`, ...form?.headers };
  const sending = request(`${url}${path}`, { method, headers, agent, signal }, (answer) => {
    let body = '';
    answer.setEncoding('utf8').on('data', (text: string) => (body += body.length < 1_000_000 ? text : ''));
    answer.on('end', () => end(String(answer.statusCode), body)).on('error', () => end('closed'));
  });
  sending.once('error', () => end('closed'));
  for (const piece of form?.pieces ?? []) sending.write(piece);
  sending.end();
  return promise;
}

const get = (greed: Greed, path: string, answers: Answers) => ask(greed, 'GET', path, answers);
const upload = (greed: Greed, form: Form, answers: Answers) => ask(greed, 'POST', '/v1/transcriptions', answers, form);
const uploadAll = (greed: Greed, answers: Answers, form: keyof Greed['forms'], clients: number) =>
  again(greed, clients, () => upload(greed, greed.forms[form], answers));

/** Waits for the answer to every request, because all of them must be answered. */
async function burst({ signal, ...rest }: Greed, answers: Answers): Promise<void> {
  const greed = { ...rest, signal: new AbortController().signal };
  const { body } = await upload(greed, greed.forms.wav, answers);
  const { sessionId } = JSON.parse(body) as { sessionId: string };
  const count = (most: number) => Array.from({ length: Math.max(1, Math.round(most * greed.times)) });
  do {
    await Promise.all([
      ...count(500).map(() => upload(greed, greed.forms.wav, answers)),
      ...count(1_000).map(() => get(greed, `/v1/sessions/${sessionId}/transcript?wait=2`, answers)),
    ]);
  } while (!signal.aborted);
}

/** From the first page to the last, again and again. */
function pages(greed: Greed, answers: Answers) {
  const cursors: (string | undefined)[] = [];
  return again(greed, 50, async (client) => {
    const cursor = cursors[client] === undefined ? '' : `&cursor=${cursors[client]}`;
    const statuses = client % 2 === 0 ? '' : '&status=completed&status=failed';
    const { body } = await get(greed, `/v1/sessions?limit=100${statuses}${cursor}`, answers);
    if (body !== '') cursors[client] = (JSON.parse(body) as { nextCursor?: string }).nextCursor;
  });
}

/** Sends 20 KB every 200 ms, and never the end. */
function slowly(greed: Greed, answers: Answers) {
  const { headers } = greed.forms.wav;
  return again(greed, 100, async () => {
    const authorization = `Bearer ${greed.key}`;
    const all = { ...headers, Authorization: authorization, 'Content-Length': 1_000_000_000 };
    const sending = request(`${greed.url}/v1/transcriptions`, { method: 'POST', headers: all, agent });
    let early = false;
    sending
      .on('error', () => undefined)
      .on('response', (answer) => {
        early = true;
        const status = String(answer.resume().statusCode);
        answers[status] = (answers[status] ?? 0) + 1;
      });
    sending.write(greed.forms.wav.pieces[0]);
    while (!greed.signal.aborted && !early) {
      sending.write(Buffer.alloc(20_000));
      await sleep(200, undefined, { signal: greed.signal }).catch(() => undefined);
    }
    if (!early) answers.left = (answers.left ?? 0) + 1;
    sending.destroy();
  });
}
