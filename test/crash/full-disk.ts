/** The disk of DATA_DIR fills up, to the last byte or nearly, and has room again some moments later. */
import { readdir, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../rig/random.ts';
import type { Kind, Scene } from './kinds.ts';

const fillsPerRound = 3;
/** As much as the longest clip takes decoded: often enough for a part of one. */
const mostRoomBytes = 80_000;

/** When the disk fills up: by chance, or in the middle of something that needs room. */
const moments = {
  'at any time': undefined,
  'under an upload': join('audio', 'incoming'),
  'under a decoder': 'work',
} as const;

export const fullDisk: Kind = { name: 'full disk', seconds: 10, strike };

async function strike({ lane, random, idle, struck }: Scene): Promise<boolean> {
  const began = Date.now();
  for (let fills = 0; fills < fillsPerRound && !idle.aborted; fills += 1) {
    const moment = random.oneOf(Object.keys(moments) as (keyof typeof moments)[]);
    const [waitMs, roomBytes, fullMs] = drawnFrom(random);
    await inUse(lane.dataDir, moments[moment], idle);
    await sleep(moment === 'at any time' ? waitMs * 10 : waitMs);
    await fill(lane.dataDir, roomBytes);
    struck(`${moment} all but ${Math.round(roomBytes / 1000)} KB for ${fullMs} ms`);
    await sleep(fullMs);
    await rm(join(lane.dataDir, 'filler'));
  }
  return lane.machines.flatMap(({ lines }) => lines).some((line) => isAboutRoom(line, began));
}

const drawnFrom = (random: Random) =>
  [
    random.between(0, 100),
    random.between(0, 2) === 0 ? 0 : random.between(0, mostRoomBytes),
    random.between(200, 3_000),
  ] as const;

/** Whether the API or the worker logged it after that time. */
const isAboutRoom = (line: string, since: number) =>
  /no room|ENOSPC/.test(line) && Number(/"time":(\d+)/.exec(line)?.[1]) >= since;

/** Until something new lies in the folder, or clients wait for nothing any more. */
async function inUse(dataDir: string, folder: string | undefined, idle: AbortSignal): Promise<void> {
  if (folder === undefined) return;
  const names = () => readdir(join(dataDir, folder));
  const known = new Set(await names());
  while (!idle.aborted && (await names()).every((name) => known.has(name))) await sleep(2);
}

/** Whatever is written beside it may take the rest before: then the disk is as full as can be. */
async function fill(dataDir: string, roomBytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(dataDir);
  const bytes = Math.max(0, bavail * bsize - roomBytes);
  await writeFile(join(dataDir, 'filler'), Buffer.alloc(bytes)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOSPC') throw error;
  });
}
