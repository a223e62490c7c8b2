/** `doctor`: looks at everything that the service needs, and says of each what to do when it is wrong. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  mostConnections,
  mostDirectConnections,
  oldestMajor,
  readConnectionRoom,
  readServer,
} from '../../db/connection/server.ts';
import { openDatabase } from '../../db/connection/database.ts';
import { explainDatabaseFault } from '../../db/connection/explained-faults.ts';
import { checkConnections, checkNamedStatements, supportsListen } from '../../db/connection/pooler.ts';
import { readSchemaVersion } from '../../db/migrations/schema-version.ts';
import { contractFile } from '../../src/api/contract/document.ts';
import { decodeAudio } from '../../src/audio/decode.ts';
import { bytesPerMs, samplesPerMs, wavHeader } from '../../src/audio/samples.ts';
import { findExecutable, findIsolation, findLimiters } from '../../src/children/bounded-command.ts';
import { readConfig } from '../../src/config/config.ts';
import { audioStoreBackend, storeMismatch } from '../../src/files/verified-audio-store.ts';
import { Spool } from '../../src/files/spool.ts';
import { probeStore } from '../../src/files/storage-probe.ts';
import { WorkFolder } from '../../src/files/work-folder.ts';
import { isPooled, mayHaveDatabase, useDatabase } from '../../src/process/database-url.ts';
import { migrateCommand, stateOf, wrongVersion } from '../../src/process/migration.ts';
import { selectListener, selectRecognizer } from '../../src/recognizers/select.ts';
import { count, table } from '../terminal/table.ts';
import { addCommand, printOn } from './command.ts';
import { briefly } from '../terminal/text.ts';
import type { Command } from 'commander';
import type { Db } from '../../db/connection/database.ts';
import type { Decoded } from '../../src/audio/decode.ts';
import type { Config } from '../../src/config/config.ts';
import type { DatabaseInUse } from '../../src/process/database-url.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { Report } from './command.ts';

export interface Finding {
  check: string;
  state: 'good' | 'wrong' | 'not looked at';
  found: string;
  /** Only where it is wrong. */
  todo?: string;
}

export function addDoctorCommand(program: Command, terminal: Terminal, onEnd: (exitCode: number) => void): void {
  const looks =
    'Look at all that the service needs: database, audio store, disk, clock, ffmpeg, recognizer, and the proxy of PUBLIC_URL. It takes away what it puts anywhere, and exits with 1 when something is wrong.';
  addCommand(program, 'doctor', looks, 'doctor', '--json doctor').action(async (_options: object, command: Command) => {
    const { json } = command.optsWithGlobals<{ json?: true }>();
    printOn(terminal, onEnd)(reportOf(await examine(readConfig(terminal.env))), json);
  });
}

async function examine(config: Config): Promise<Finding[]> {
  const patient: Patient = { config, afterwards: [] };
  const findings: Finding[] = [];
  try {
    for (const check of checks) findings.push(await findingOf(check, patient, findings));
  } finally {
    for (const end of patient.afterwards.reverse()) await end();
  }
  return findings;
}

async function findingOf({ name, needs, look, todo }: Check, patient: Patient, before: Finding[]): Promise<Finding> {
  const lacks =
    needs === 'database'
      ? patient.database === undefined
      : needs !== undefined && before.find(({ check }) => check === needs)?.state !== 'good';
  if (lacks) return { check: name, state: 'not looked at', found: `there is no ${needs}` };
  try {
    return { check: name, state: 'good', found: await look(patient) };
  } catch (error) {
    return { check: name, state: 'wrong', found: whyOf(error), todo };
  }
}

/** Our own errors often name their cause. */
function whyOf(error: unknown): string {
  const [told, cause] = [Error.isError(error) ? error.message : '', briefly(error)];
  if (told === '') return cause;
  return told.includes(cause) ? told : `${told}: ${cause}`;
}

function reportOf(findings: Finding[]): Report {
  const wrong = findings.filter(({ state }) => state === 'wrong');
  const columns = ['', 'Looked at', 'Found'];
  const marks: Record<Finding['state'], string> = { good: 'ok', wrong: 'WRONG', 'not looked at': '-' };
  const rows = findings.map(({ check, state, found }) => [marks[state], check, found]);
  const todos = wrong.map(({ check, todo }) => `${check}: ${todo}`);
  return {
    json: { well: wrong.length === 0, findings },
    text: [table(columns, rows, ''), '', ...(wrong.length === 0 ? ['Everything is well.'] : todos)].join('\n'),
    exitCode: wrong.length === 0 ? 0 : 1,
  };
}

/** What is looked at. */
interface Patient {
  readonly config: Config;
  /** Set by the look at the login; not where there is no database yet. */
  database?: OpenDatabase;
  /** Set by the look at the tables. */
  hasTables?: boolean;
  /** Whatever has to be ended afterwards, the last first. */
  readonly afterwards: (() => Promise<unknown>)[];
}

interface OpenDatabase {
  db: Db;
  /** The same, past the pooler. */
  direct: Db;
  inUse: DatabaseInUse;
}

interface Check {
  name: string;
  /** Checks before it that must have gone well. `database`: there must be one, too. */
  needs?: 'database' | 'audio store';
  /**
   * @returns what was found, without a full stop
   * @throws what is wrong
   */
  look(this: void, patient: Patient): Promise<string>;
  /** What to do when it is wrong. */
  todo: string;
}

/** Beyond it, the log of one machine and the times of another can't be read side by side. */
const mostClockMs = 5_000;

async function login(patient: Patient): Promise<string> {
  const { config, afterwards } = patient;
  if (!mayHaveDatabase(config)) return 'none yet: the first start makes it';
  const inUse = await useDatabase(config, () => {});
  afterwards.push(() => inUse.leave());
  const pool = openDatabase(inUse.url, () => {}, { maxConnections: 2, isPooled: isPooled(inUse) });
  afterwards.push(() => pool.close());
  const direct = openDatabase(inUse.directUrl, () => {}, { maxConnections: 1 });
  afterwards.push(() => direct.close());
  await explainDatabaseFault('DATABASE_URL', readServer(pool.db));
  const directly = config.databaseDirectUrl === undefined ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL';
  const { version, major } = await explainDatabaseFault(directly, readServer(direct.db));
  if (major < oldestMajor) throw new Error(`PostgreSQL ${version}`);
  patient.database = { db: pool.db, direct: direct.db, inUse };
  return `PostgreSQL ${version}`;
}

async function settings({ config, database }: Patient): Promise<string> {
  if (config.databaseUrl !== undefined)
    await explainDatabaseFault('DATABASE_URL', checkConnections(database!.db, isPooled(database!.inUse)));
  return 'UTC, ISO, 30 s for a statement';
}

async function pooler({ database }: Patient): Promise<string> {
  const { db, inUse } = database!;
  if (isPooled(inUse)) await checkNamedStatements(inUse.url);
  if (!(await supportsListen(inUse.directUrl, db))) throw new Error('LISTEN is deaf');
  return isPooled(inUse) ? 'keeps named statements; LISTEN goes past it' : 'none; LISTEN hears';
}

async function connections({ database }: Patient): Promise<string> {
  const { direct, inUse } = database!;
  const needed = isPooled(inUse) ? mostDirectConnections : mostConnections;
  const { limit, open, ours } = await readConnectionRoom(direct);
  const others = open - ours;
  const processes = Math.floor((limit - others) / needed);
  const found = `${limit}, ${others} of them used by others: room for ${processes} ${processes === 1 ? 'process' : 'processes'} of the service`;
  if (processes < 1) throw new Error(found);
  return open + needed <= limit ? found : `${found}, and not for one more than run`;
}

async function tables(patient: Patient): Promise<string> {
  const version = await readSchemaVersion(patient.database!.direct);
  const state = stateOf(version);
  if (state === 'too_old' || state === 'too_new') throw wrongVersion(state, version);
  patient.hasTables = state === 'current';
  return state === 'current' ? 'of this version' : 'none yet: the first start makes them';
}

async function clock({ database }: Patient): Promise<string> {
  const asked = Date.now();
  const { now } = await readServer(database!.direct);
  const answered = Date.now();
  // The database looked at its clock at some moment between.
  const aheadMs = Math.round(Math.max(asked - now, 0) - Math.max(now - answered, 0));
  if (Math.abs(aheadMs) <= mostClockMs) return "as the database's";
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  throw new Error(`${count(seconds, 'second')} ${aheadMs > 0 ? 'ahead of' : 'behind'} the database's`);
}

async function store({ config, database, hasTables }: Patient): Promise<string> {
  const bare = await audioStoreBackend(config);
  const isStrange = !hasTables && (await bare.readStoreId()) !== undefined;
  const why = hasTables ? await storeMismatch(database!.direct, bare) : undefined;
  if (isStrange) throw new Error(`${bare.place} is another database's, and this one is empty`);
  if (why !== undefined) throw new Error(why);
  const spool = new Spool(config.dataDir);
  await bare.open();
  await spool.open();
  await bare.checkReadable();
  await probeStore(bare, spool);
  return `${bare.place} takes audio, gives it back and removes it`;
}

async function disk({ config }: Patient): Promise<string> {
  const folder = new WorkFolder(config.dataDir);
  await folder.open();
  await folder.checkWritable();
  const free = await folder.freeBytes();
  const found = `${gigabytes(free)} free below ${config.dataDir}`;
  if (free < config.minFreeDisk) throw new Error(`${found}; uploads leave MIN_FREE_DISK=${config.minFreeDisk}`);
  return found;
}

const gigabytes = (bytes: number) => `${(bytes / 1024 ** 3).toFixed(1)} GiB`;

const toneMs = 1_000;

async function ffmpeg(): Promise<string> {
  await findExecutable('ffmpeg');
  await findLimiters();
  await withTone(async ({ durationMs }) => {
    if (durationMs !== toneMs) throw new Error(`a second of a tone became ${durationMs} ms`);
  });
  const isolation = await findIsolation();
  return `decodes; ${isolation === 'none' ? 'with network access: this machine allows no namespaces' : `in a ${isolation}`}`;
}

async function recognizer({ config }: Patient): Promise<string> {
  const whole = await selectRecognizer(config);
  // Without the voice detector, which finds no speech in a tone.
  const listener = await selectListener(config);
  try {
    await whole.check(config.recognizerLanguage);
    const began = performance.now();
    await withTone(({ durationMs, silences }, file) =>
      listener.recognize(
        { file, durationMs, silences, speech: [{ startMs: 0, endMs: durationMs }] },
        { signal: AbortSignal.timeout(longestMs), language: config.recognizerLanguage },
      ),
    );
    return `${listener.name} heard a second of a tone in ${((performance.now() - began) / 1000).toFixed(1)} s`;
  } finally {
    await Promise.all([whole.close(), listener.close()]);
  }
}

/** Decodes it as an upload is decoded, and hands on the file of samples. */
async function withTone(use: (tone: Decoded, file: string) => Promise<unknown>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'doctor-'));
  const [input, output] = [join(folder, 'tone'), join(folder, 'samples')];
  try {
    const samples = Buffer.alloc(toneMs * bytesPerMs);
    for (let at = 0; at < toneMs * samplesPerMs; at += 1)
      samples.writeInt16LE(Math.round(8_000 * Math.sin((2 * Math.PI * 440 * at) / (1_000 * samplesPerMs))), 2 * at);
    await writeFile(input, Buffer.concat([wavHeader(samples.length), samples]));
    await use(await decodeAudio({ input, output, maxDurationMs: 2 * toneMs, timeLimitMs: longestMs }), output);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** nginx's own limit is 1 MB, Kubernetes' ingress takes what its nginx takes. A recording of an hour is larger than this. */
const uploadBytes = 32 * 1024 ** 2;
const longestMs = 60_000;

async function path({ config }: Patient): Promise<string> {
  if (config.publicUrl === undefined) return notNamed;
  const address = `${config.publicUrl}/openapi.json`;
  const answer = await fetch(address, { signal: AbortSignal.timeout(longestMs), redirect: 'manual' });
  const isOurs = answer.status === 200 && (await answer.text()) === (await readFile(contractFile, 'utf8'));
  if (!isOurs) throw new Error(`${address} answers ${answer.status}, and not the contract of this version`);
  return `${config.publicUrl} leads to the service`;
}

/** Without a key: the service refuses it before anything is stored. */
async function size({ config }: Patient): Promise<string> {
  if (config.publicUrl === undefined) return notNamed;
  const { status, type } = await upload(`${config.publicUrl}/v1/transcriptions`);
  if (status !== 401 || !type.startsWith('application/problem+json'))
    throw new Error(
      `an upload of ${uploadBytes / 1024 ** 2} MiB was answered ${status} by something before the service`,
    );
  return `an upload of ${uploadBytes / 1024 ** 2} MiB gets through`;
}

const notNamed = 'not looked for: PUBLIC_URL is not set';

/** A refusal may come before the last byte is sent, so that sending fails; `fetch` would report only that. */
function upload(address: string): Promise<{ status: number; type: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; type: string }>();
  const headers = { 'Content-Type': 'multipart/form-data; boundary=doctor', 'Content-Length': uploadBytes };
  const options = { method: 'POST', headers, signal: AbortSignal.timeout(longestMs) };
  const sending = (address.startsWith('https:') ? overHttps : overHttp)(address, options);
  sending.on('response', ({ statusCode, headers: { 'content-type': type = '' } }) => {
    resolve({ status: statusCode!, type });
    sending.destroy();
  });
  sending.on('error', reject);
  sending.end(Buffer.alloc(uploadBytes));
  return promise;
}

/** In the order in which they run and are shown. */
const checks: Check[] = [
  {
    ...{ name: 'database', look: login },
    todo: 'Is PostgreSQL 13 or newer running there, and are DATABASE_URL and DATABASE_DIRECT_URL right?',
  },
  {
    ...{ name: 'its settings', needs: 'database', look: settings },
    todo: `With a pooler: DATABASE_DIRECT_URL, then ${migrateCommand}.`,
  },
  {
    ...{ name: 'pooler', needs: 'database', look: pooler },
    todo: 'Name the server behind the pooler in DATABASE_DIRECT_URL; PgBouncer 1.21 or newer with max_prepared_statements=200.',
  },
  {
    ...{ name: 'connections', needs: 'database', look: connections },
    todo: 'Raise max_connections, or put a pooler before the database.',
  },
  { name: 'tables', needs: 'database', look: tables, todo: `Type ${migrateCommand}, or start the newer version.` },
  {
    ...{ name: 'clock', needs: 'database', look: clock },
    todo: 'Let both machines ask a time server (timedatectl set-ntp true).',
  },
  {
    ...{ name: 'audio store', look: store },
    todo: 'Is AUDIO_STORE right, does its key allow what OPERATIONS.md lists, and does the store know If-None-Match and CRC32?',
  },
  {
    ...{ name: 'disk', needs: 'audio store', look: disk },
    todo: 'Make room, or set DATA_DIR to a disk that this user may write to.',
  },
  { name: 'ffmpeg', look: ffmpeg, todo: 'Install ffmpeg and util-linux; "ffmpeg -version" says why it does not run.' },
  {
    ...{ name: 'recognizer', look: recognizer },
    todo: 'See src/recognizers/README.md; npm run model -- list shows the models that are installed.',
  },
  {
    ...{ name: "proxy's path", look: path },
    todo: 'Is the service running, and does the proxy take the path of PUBLIC_URL away before it asks the service? See scripts/deploy/README.md.',
  },
  {
    ...{ name: "proxy's bodies", look: size },
    todo: 'Let the proxy take bodies of any size (nginx: client_max_body_size 0): the plan of an account limits them.',
  },
];
