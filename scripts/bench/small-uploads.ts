/** Uploads per second of short files, against nothing but the file and the transaction. */
import { startApiProgram } from './program.ts';
import { interleaved } from './rounds.ts';
import { quantile, ratios } from './statistics.ts';
import { makeAudio } from './upload-audio.ts';
import { formOf, upload, uploadsPerSecond } from './upload-client.ts';
import { asStarted, bearer, removeFiles } from './upload-contenders.ts';
import type { Check, Figures, Setting } from './bench.ts';
import type { Format } from './upload-audio.ts';
import type { Contenders } from './upload-contenders.ts';

const smallBytes = 100_000;
export const clients = 8;

/** Uploads per second of each contender in each round. */
export interface Small {
  format: Format;
  figures: Record<'ours' | 'file and transaction' | 'receiving', number[]>;
}

export async function measureSmall(
  setting: Setting,
  { database, accounts, bare }: Contenders,
  format: Format,
  rounds: number,
): Promise<Small> {
  const form = await formOf(await makeAudio(setting, format, smallBytes));
  const count = setting.sized({ full: 400, quick: 120, tiny: 8 });
  const ours = await startApiProgram(setting, database.url, asStarted);
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
    receiving: many(() => upload(`${bare.url}/ours`, {}, form)),
  });
  await ours.stop();
  return { format, figures };
}

export function checksOfSmall({ format, figures: { ours, receiving, 'file and transaction': bare } }: Small): Check[] {
  const measure = 'uploads/s ÷ file and transaction';
  return [
    { work: `uploads of 100 KB ${format}`, measure, values: ratios(ours, bare) },
    { work: `only receiving 100 KB ${format}`, measure, values: ratios(receiving, bare) },
  ];
}

export function figuresOfSmall({ format, figures }: Small): Figures {
  return {
    title: `Files of 100 KB ${format}, ${clients} clients: medians of all rounds`,
    head: ['server', 'uploads/s'],
    rows: Object.entries(figures).map(([name, rates]) => [name, quantile(rates, 0.5)]),
  };
}
