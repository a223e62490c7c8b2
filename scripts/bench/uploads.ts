/** Uploading: large files against piping the body to a file, small ones against the file and the transaction. */
import { rm } from 'node:fs/promises';
import { measureAudio } from '../../src/audio/measure.ts';
import { seedAccounts, settle, startDatabase } from './database.ts';
import { memoryOf, startApiProgram, startProgram } from './program.ts';
import { interleaved } from './rounds.ts';
import { checksOfSmall, clients, figuresOfSmall, measureSmall } from './small-uploads.ts';
import { quantile, ratios } from './statistics.ts';
import { makeAudio } from './upload-audio.ts';
import { formOf, upload } from './upload-client.ts';
import { asStarted, bearer, removeFiles } from './upload-contenders.ts';
import type { Bench, Check, Figures, Findings, Goal, Setting } from './bench.ts';
import type { Small } from './small-uploads.ts';
import type { Format } from './upload-audio.ts';
import type { Contenders } from './upload-contenders.ts';

const megabyte = 1_000_000;
/** So many accounts that none reaches its limit of queued sessions. */
const accountCount = 50;

interface LargeFile {
  format: Format;
  bytes: number;
  /** MB/s of each contender in each round. */
  figures: Record<'ours' | 'receiving' | 'pipe', number[]>;
  /** How long the measurement of this file takes when nothing else runs. */
  measureMs: number;
  /** The most memory that a fresh process of ours ever had, in MB. */
  peakMb: number;
}

export const uploads: Bench = {
  name: 'uploads',
  summary: 'MB/s, memory and uploads per second, against piping the body to a file and against the bare transaction',
  run,
};

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

  const files: LargeFile[] = [];
  const kinds: [Format, number][] = [
    ['mp3', 1],
    ...(['mp3', 'm4a', 'flac', 'wav'] as const).map((format): [Format, number] => [format, middle]),
    // As MP3 it would be longer than any plan allows, so it is a WAV.
    ...(largest > middle ? [['wav', largest] as [Format, number]] : []),
  ];
  for (const [format, megabytes] of kinds) {
    setting.say(`Measuring: ${megabytes} MB of ${format} …`);
    files.push(await measureLarge(setting, { database, accounts, bare }, format, megabytes * megabyte, rounds));
  }
  const small: Small[] = [];
  for (const format of ['mp3', 'wav'] as const) {
    setting.say(`Measuring: many small files of ${format} …`);
    small.push(await measureSmall(setting, { database, accounts, bare }, format, rounds));
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
  { database, accounts, bare }: Contenders,
  format: Format,
  bytes: number,
  rounds: number,
): Promise<LargeFile> {
  const path = await makeAudio(setting, format, bytes);
  const form = await formOf(path);
  // A fresh process, because its peak of memory is that of its whole life.
  const ours = await startApiProgram(setting, database.url, asStarted);
  const most = setting.sized({ full: 20, quick: 20, tiny: 1 });
  const times = Math.max(1, Math.min(most, Math.round((100 * megabyte) / bytes)));
  const send =
    (url: string, headers: Record<string, string> = {}) =>
    async () => {
      const took: number[] = [];
      for (let i = 0; i < times; i += 1) took.push(await upload(url, headers, form));
      await removeFiles(setting);
      return form.fileBytes / 1000 / quantile(took, 0.5);
    };
  const figures = await interleaved(setting, bytes > 500 * megabyte ? Math.min(rounds, 3) : rounds, {
    ours: send(`${ours.url}/v1/transcriptions`, bearer(accounts[0]!)),
    receiving: send(`${bare.url}/ours`),
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

const nameOf = ({ format, bytes }: LargeFile) => `${Math.round(bytes / megabyte)} MB ${format}`;

function checksOf(files: readonly LargeFile[], small: readonly Small[]): Check[] {
  const [least, most] = [files[0]!, files.at(-1)!];
  const speed = files.map((file): Check => {
    const goal: Goal | undefined = file === least || file === most ? undefined : { atLeast: 0.9 };
    const values = ratios(file.figures.ours, file.figures.pipe);
    return { work: `upload of ${nameOf(file)}`, measure: 'MB/s ÷ pipe and fsync', values, ...(goal && { goal }) };
  });
  const receiving = files.map(({ figures, ...file }): Check => {
    const values = ratios(figures.receiving, figures.pipe);
    return { work: `only receiving ${nameOf({ figures, ...file })}`, measure: 'MB/s ÷ pipe and fsync', values };
  });
  return [
    ...speed,
    ...receiving,
    { work: 'peak memory', measure: nameOf(most), unit: 'MB', values: [most.peakMb], goal: { atMost: 200 } },
    { work: 'peak memory', measure: `${nameOf(most)} ÷ ${nameOf(least)}`, values: [most.peakMb / least.peakMb] },
    ...small.flatMap(checksOfSmall),
  ];
}

function figuresOf(files: readonly LargeFile[]): Figures {
  return {
    title: 'Medians of all rounds; measuring is what finding the duration takes, alone',
    head: ['file', 'ours MB/s', 'only receiving MB/s', 'pipe MB/s', 'ours ms', 'of it measuring ms', 'peak MB'],
    rows: files.map((file) => {
      const [ours, receiving, pipe] = [file.figures.ours, file.figures.receiving, file.figures.pipe].map((rates) =>
        quantile(rates, 0.5),
      );
      return [nameOf(file), ours!, receiving!, pipe!, file.bytes / 1000 / ours!, file.measureMs, file.peakMb];
    }),
  };
}
