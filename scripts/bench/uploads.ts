/** Uploading: large files against piping the body to a file, small ones against the file and the transaction. */
import { mkdir, readdir, rm, readFile, writeFile } from 'node:fs/promises';
import { join, basename } from 'node:path';
import { storeIdFile } from '../../src/files/audio-store.ts';
import { seedAccounts, settle, startDatabase } from './database.ts';
import { memoryOf } from './process-tree.ts';
import { serviceEnv, startApiProgram, startProgram } from './program.ts';
import { interleaved, median, ratios } from './statistics.ts';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { openAsBlob } from 'node:fs';
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import pLimit from 'p-limit';
import type { Bench, Check, Findings, Goal, Setting } from './bench.ts';
import type { BenchAccount, BenchDatabase } from './database.ts';
import type { Program } from './program.ts';
import type { IncomingMessage } from 'node:http';

const megabyte = 1_000_000;
/** So many accounts that none reaches its limit of queued sessions. */
const accountCount = 50;
const smallBytes = 100_000;
const clients = 8;

export const uploads: Bench = {
  name: 'uploads',
  summary: 'MB/s, memory and uploads per second, against piping the body to a file and against the bare transaction',
  run,
};

interface Contenders {
  database: BenchDatabase;
  accounts: BenchAccount[];
  bare: Program;
  rounds: number;
}

interface LargeFile {
  format: Format;
  bytes: number;
  /** MB/s of each contender in each round. */
  figures: Record<'ours' | 'pipe', number[]>;
  /** The most memory that a fresh process of ours ever had, in MB. */
  peakMb: number;
}

interface SmallFiles {
  format: Format;
  /** Uploads per second of each contender in each round. */
  figures: Record<'ours' | 'file and transaction', number[]>;
}

async function run(setting: Setting): Promise<Findings> {
  const largest = setting.sized({ full: 1_000, quick: 20, tiny: 2 });
  const middle = setting.sized({ full: 50, quick: 20, tiny: 2 });
  const rounds = setting.sized({ full: 9, quick: 5, tiny: 1 });
  setting.say('Starting PostgreSQL and the servers …');
  const database = await startDatabase(setting);
  const accounts = await seedAccounts(database, accountCount);
  await settle(database);
  const env = { DATABASE_URL: database.url, FOLDER: setting.folder };
  const bare = await startProgram(setting, { script: 'scripts/bench/baselines/pipe.ts', env });
  const contenders: Contenders = { database, accounts, bare, rounds };

  const files: LargeFile[] = [];
  const kinds: [Format, number][] = [
    ['mp3', 1],
    ['mp3', middle],
    ['wav', middle],
    // As MP3 it would be longer than any plan allows, so it is a WAV.
    ...(largest > middle ? [['wav', largest] as [Format, number]] : []),
  ];
  for (const [format, megabytes] of kinds) {
    setting.say(`Measuring: ${megabytes} MB of ${format} …`);
    files.push(await measureLarge(setting, contenders, format, megabytes * megabyte));
  }
  const small: SmallFiles[] = [];
  for (const format of ['mp3', 'wav'] as const) {
    setting.say(`Measuring: many small files of ${format} …`);
    small.push(await measureSmall(setting, contenders, format));
  }
  return {
    sizes: { accounts: accountCount, rounds, 'clients (100 KB files)': clients },
    checks: checksOf(files, small),
    raw: { files, small },
  };
}

async function measureLarge(
  setting: Setting,
  { database, accounts, bare, rounds }: Contenders,
  format: Format,
  bytes: number,
): Promise<LargeFile> {
  const path = await makeAudio(setting, format, bytes);
  const form = await formOf(path);
  // A fresh process, because its peak of memory is that of its whole life.
  const ours = await startApiProgram(setting, database.url);
  const most = setting.sized({ full: 20, quick: 20, tiny: 1 });
  const times = Math.max(1, Math.min(most, Math.round((100 * megabyte) / bytes)));
  const send =
    (url: string, headers: Record<string, string> = {}) =>
    async () => {
      const took: number[] = [];
      for (let i = 0; i < times; i += 1) took.push(await upload(url, headers, form));
      await removeFiles(setting);
      return form.fileBytes / 1000 / median(took);
    };
  const figures = await interleaved(setting, bytes > 500 * megabyte ? Math.min(rounds, 3) : rounds, {
    ours: send(`${ours.url}/v1/transcriptions`, bearer(accounts[0]!)),
    pipe: send(`${bare.url}/file`),
  });
  const peakMb = memoryOf(ours.pid).peak / megabyte;
  await ours.stop();
  await rm(path);
  return { format, bytes: form.fileBytes, figures, peakMb };
}

/** Uploads per second of short files, against nothing but the file and the transaction. */
async function measureSmall(
  setting: Setting,
  { database, accounts, bare, rounds }: Contenders,
  format: Format,
): Promise<SmallFiles> {
  const form = await formOf(await makeAudio(setting, format, smallBytes));
  const count = setting.sized({ full: 400, quick: 120, tiny: 8 });
  const ours = await startApiProgram(setting, database.url);
  const owner = (index: number) => accounts[index % accounts.length]!;
  const many = (send: (index: number) => Promise<number>) => async () => {
    const rate = await uploadsPerSecond(count, send);
    // No worker runs here, and both contenders count what waits.
    await database.query('truncate sessions cascade; delete from pgboss.job');
    await removeFiles(setting);
    return rate;
  };
  const figures = await interleaved(setting, rounds, {
    ours: many((index) => upload(`${ours.url}/v1/transcriptions`, bearer(owner(index)), form)),
    'file and transaction': many((index) =>
      upload(`${bare.url}/file-and-rows`, { 'X-Account': owner(index).id }, form),
    ),
  });
  await ours.stop();
  return { format, figures };
}

const bearer = ({ key }: BenchAccount) => ({ Authorization: `Bearer ${key}` });

/** Removes the received files, outside of the measured time, so that the disk does not fill up. */
async function removeFiles(setting: Setting): Promise<void> {
  const audio = join(serviceEnv(setting, '')['DATA_DIR']!, 'audio');
  for (const folder of [audio, join(setting.folder, 'piped')]) {
    await mkdir(folder, { recursive: true });
    const received = (await readdir(folder)).filter((name) => name !== storeIdFile);
    await Promise.all(received.map((name) => rm(join(folder, name), { recursive: true })));
  }
  await mkdir(join(audio, 'incoming'));
}

const nameOf = ({ format, bytes }: LargeFile) => `${Math.round(bytes / megabyte)} MB ${format}`;

function checksOf(files: readonly LargeFile[], small: readonly SmallFiles[]): Check[] {
  const [least, most] = [files[0]!, files.at(-1)!];
  const speed = files.map((file): Check => {
    const goal: Goal | undefined = file === least || file === most ? undefined : { atLeast: 0.9 };
    const values = ratios(file.figures.ours, file.figures.pipe);
    return { work: `upload of ${nameOf(file)}`, measure: 'MB/s ÷ pipe and fsync', values, ...(goal && { goal }) };
  });
  return [
    ...speed,
    { work: 'peak memory', measure: nameOf(most), unit: 'MB', values: [most.peakMb], goal: { atMost: 200 } },
    { work: 'peak memory', measure: `${nameOf(most)} ÷ ${nameOf(least)}`, values: [most.peakMb / least.peakMb] },
    ...small.flatMap(({ format, figures }): Check[] => {
      const work = `uploads of 100 KB ${format}, ${clients} clients`;
      const compared = ratios(figures.ours, figures['file and transaction']);
      return [
        { work, measure: 'uploads/s', values: figures.ours },
        { work, measure: 'uploads/s ÷ file and transaction', values: compared },
      ];
    }),
  ];
}

const execute = promisify(execFile);

type Format = 'mp3' | 'wav';

/** How a minute is encoded so that copies of it in a row are a recording again. */
const minuteArgs: Record<Format, string[]> = {
  // 128 kbit/s, which is usual. Without tags, which would stand in the middle.
  mp3: ['-c:a', 'libmp3lame', '-b:a', '128k', '-write_xing', '0', '-id3v2_version', '0', '-f', 'mp3'],
  wav: ['-f', 's16le'],
};

const quiet = ['-hide_banner', '-nostdin', '-loglevel', 'error', '-y'];

/**
 * A recording of any size, as people upload them. It is made in seconds by repeating what a minute of noise is encoded to.
 * @returns the path of a file of about so many bytes
 */
async function makeAudio({ folder }: Setting, format: Format, bytes: number): Promise<string> {
  const minute = join(folder, `minute.${format}`);
  const noise = ['-f', 'lavfi', '-i', 'anoisesrc=amplitude=0.2:duration=60:sample_rate=48000'];
  await execute('ffmpeg', [...quiet, ...noise, '-ac', '2', ...minuteArgs[format], minute]);
  const content = await readFile(minute);
  const copies = Array.from({ length: Math.ceil(bytes / content.length) }, (_, index) =>
    // Whole samples: 16 bits, two channels.
    content.subarray(0, Math.min(content.length, bytes - index * content.length) & ~3),
  );
  const path = join(folder, `${bytes}.${format}`);
  if (format === 'mp3') {
    await writeFile(path, copies);
    return path;
  }
  const samples = join(folder, 'repeated');
  await writeFile(samples, copies);
  const how = ['-f', 's16le', '-ar', '48000', '-ac', '2', '-i', samples, '-c', 'copy', '-f', 'wav'];
  await execute('ffmpeg', [...quiet, ...how, path]);
  return path;
}

/** A client that is as fast as the socket: its form is in memory before the clock starts. */
export interface Form {
  readonly headers: Record<string, string | number>;
  readonly body: Buffer;
  readonly fileBytes: number;
}

/** The form of an ordinary client, with one file. */
export async function formOf(path: string): Promise<Form> {
  const file = await openAsBlob(path);
  const form = new FormData();
  form.set('file', file, basename(path));
  const encoded = new Response(form);
  const body = Buffer.from(await encoded.arrayBuffer());
  const headers = { 'Content-Type': encoded.headers.get('content-type')!, 'Content-Length': body.length };
  return { headers, body, fileBytes: file.size };
}

const agent = new Agent({ keepAlive: true });

/**
 * @returns ms from the first byte to the answer
 * @throws when the answer is not 202
 */
export async function upload(url: string, headers: Record<string, string>, form: Form): Promise<number> {
  const began = performance.now();
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const sending = request(url, { method: 'POST', headers: { ...form.headers, ...headers }, agent });
    sending.once('response', resolve).once('error', reject);
    sending.end(form.body);
  });
  const body = await text(answer);
  if (answer.statusCode !== 202) throw new Error(`${url} answered ${answer.statusCode}: ${body}`);
  return performance.now() - began;
}

/** @returns uploads per second of several clients */
async function uploadsPerSecond(uploads: number, send: (index: number) => Promise<number>): Promise<number> {
  const began = performance.now();
  const limit = pLimit(clients);
  await Promise.all(Array.from({ length: uploads }, (_, index) => limit(() => send(index))));
  return (uploads * 1000) / (performance.now() - began);
}
