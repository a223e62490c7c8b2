/** Uploading: large files against piping the body to a file, small ones against the file and the transaction. */
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { measureAudio } from '../../src/audio/measure.ts';
import { markName } from '../../src/files/audio-store.ts';
import { seedAccounts, settle, startDatabase } from './database.ts';
import { memoryOf } from './process-tree.ts';
import { serviceEnv, startApiProgram, startProgram } from './program.ts';
import { interleaved } from './rounds.ts';
import { median, ratios } from './statistics.ts';
import { makeAudio } from './upload-audio.ts';
import { formOf, upload, uploadsPerSecond } from './upload-client.ts';
import type { Bench, Check, Figures, Findings, Goal, Setting } from './bench.ts';
import type { BenchAccount, BenchDatabase } from './database.ts';
import type { Program } from './program.ts';
import type { Format } from './upload-audio.ts';

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
  /** How long the measurement of this file takes when nothing else runs. */
  measureMs: number;
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
    figures: [figuresOf(files), ...small.map(figuresOfSmall)],
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
  const ours = await startApiProgram(setting, database.url, { NODE_ENV: 'production' });
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
  const began = performance.now();
  await measureAudio(path, { timeLimitMs: 120_000 });
  const measureMs = performance.now() - began;
  await rm(path);
  return { format, bytes: form.fileBytes, figures, measureMs, peakMb };
}

/** Uploads per second of short files, against nothing but the file and the transaction. */
async function measureSmall(
  setting: Setting,
  { database, accounts, bare, rounds }: Contenders,
  format: Format,
): Promise<SmallFiles> {
  const form = await formOf(await makeAudio(setting, format, smallBytes));
  const count = setting.sized({ full: 400, quick: 120, tiny: 8 });
  const ours = await startApiProgram(setting, database.url, { NODE_ENV: 'production' });
  const owner = (index: number) => accounts[index % accounts.length]!;
  const many = (send: (index: number) => Promise<number>) => async () => {
    const rate = await uploadsPerSecond(clients, count, send);
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
    const received = (await readdir(folder)).filter((name) => name !== markName);
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
    ...small.map(({ format, figures }) => ({
      ...{ work: `uploads of 100 KB ${format}`, measure: 'uploads/s ÷ file and transaction' },
      values: ratios(figures.ours, figures['file and transaction']),
    })),
  ];
}

function figuresOf(files: readonly LargeFile[]): Figures {
  return {
    title: 'Medians of all rounds; measuring is what finding the duration takes, alone',
    head: ['file', 'ours MB/s', 'pipe MB/s', 'ours ms', 'of it measuring ms', 'peak MB'],
    rows: files.map((file) => {
      const [ours, pipe] = [median(file.figures.ours), median(file.figures.pipe)];
      return [nameOf(file), ours, pipe, file.bytes / 1000 / ours, file.measureMs, file.peakMb];
    }),
  };
}

function figuresOfSmall({ format, figures }: SmallFiles): Figures {
  return {
    title: `Files of 100 KB ${format}, ${clients} clients: medians of all rounds`,
    head: ['server', 'uploads/s'],
    rows: Object.entries(figures).map(([name, rates]) => [name, median(rates)]),
  };
}
