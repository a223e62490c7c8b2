/** A log that nobody reads. Files, full disks and how a process ends: log.test.ts. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, existsSync, mkdtempSync, openSync, readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { atEnd } from '../../support/at-end.ts';
import { until } from '../../support/until.ts';
import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';

type OutputKind = 'pipe' | 'socket';

/** @param command a program and its arguments; standard error goes where standard output goes, as `2>&1` does */
function startUnread(kind: OutputKind, command: string[]): ReturnType<typeof unread> {
  const [program, ...args] = command;
  if (kind === 'socket') {
    // What Node.js calls a pipe is a pair of sockets on Linux; it reads from its own only when somebody listens.
    const child = spawn(program!, args, { stdio: ['ignore', 'pipe', 'ignore'] });
    return unread(child, child.stdout!);
  }
  const fifo = join(mkdtempSync(join(process.env.TEST_FOLDER!, 'unread-')), 'output');
  spawnSync('mkfifo', [fifo]);
  const reading = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
  const writing = openSync(fifo, 'w');
  const child = spawn(program!, args, { stdio: ['ignore', writing, writing] });
  closeSync(writing);
  return unread(child, new Socket({ fd: reading, readable: true, writable: false }).pause());
}

function unread(child: ChildProcess, output: Readable) {
  atEnd(() => {
    child.kill('SIGKILL');
    output.destroy();
  });
  /** Reads from now on. */
  const lines = () => createInterface({ input: output, crlfDelay: Infinity });
  return { child, lines };
}

const source = (path: string) => JSON.stringify(fileURLToPath(new URL(`../../../${path}`, import.meta.url)));
const startLog = `
  import { createLog } from ${source('src/ops/log.ts')};
  const log = createLog({ logLevel: 'info' });`;
const metric = 'transcription_lost_log_lines_total';

/**
 * Logs 20,000 lines of some 300 bytes, each with its number, in 200 turns of the event loop; then asks for the metric of
 * lost lines, and runs `next`.
 */
const logging = (next: string) => {
  const reached = join(mkdtempSync(join(process.env.TEST_FOLDER!, 'unread-')), 'reached');
  const program = `
    import { writeFileSync } from 'node:fs';
    import { openDatabase } from ${source('db/connection/database.ts')};
    import { Metrics } from ${source('src/ops/metrics.ts')};
    ${startLog}
    let number = 0;
    const line = () => log.info({ number: number++, text: 'x'.repeat(200) });
    for (let turn = 0; turn < 200; turn += 1) {
      for (let i = 0; i < 100; i += 1) line();
      await new Promise(setImmediate);
    }
    const { registry } = new Metrics(openDatabase('postgres://127.0.0.1:1/none', () => {}).db, log);
    writeFileSync('${reached}', await registry.getSingleMetricAsString('${metric}'));
    ${next}`;
  const lost = () => Number(existsSync(reached) && / (\d+)$/.exec(readFileSync(reached, 'utf8'))?.[1]);
  return { command: [process.execPath, '--input-type=module', '-e', program], lost };
};

test.each(['pipe', 'socket'] as const)(
  'nobody reads the %s → the program goes on; read again → the lines from before and after, and how many are missing between',
  async (kind) => {
    const { command, lost: dropped } = logging(`setInterval(line, 5);`);
    const { lines } = startUnread(kind, command);
    await until(() => dropped() > 0);
    const numbers: number[] = [];
    let lost: number | undefined;
    for await (const text of lines()) {
      const entry = JSON.parse(text) as { number: number; lost?: number };
      if (entry.lost !== undefined) lost = entry.lost;
      else numbers.push(entry.number);
      if (lost !== undefined && entry.lost === undefined) break;
    }
    const [before, after] = numbers.slice(-2) as [number, number];
    expect(numbers.slice(0, -1)).toEqual(numbers.slice(0, -1).map((_, index) => index));
    expect(after - before - 1).toBe(lost);
    // 1 MiB waited for the reader.
    expect(before).toBeGreaterThan(3_000);
  },
);

test.each([
  ['process.exit(3);', 3],
  ['throw new Error();', 1],
  ['process.exitCode = 4;', 4],
])('nobody reads the pipe, and %s → the process ends', async (next, status) => {
  const { child } = startUnread('pipe', logging(next).command);
  expect(await once(child, 'exit')).toEqual([status, null]);
});

test('a process that exits while a slow reader has not taken all of its lines → it takes the last of them', async () => {
  const program = `
    ${startLog}
    for (let number = 0; number < 2_000; number += 1) log.info({ number, text: 'x'.repeat(200) });
    process.exit(3);`;
  const { child, lines } = startUnread('pipe', [process.execPath, '--input-type=module', '-e', program]);
  const ended = once(child, 'exit');
  let count = 0;
  for await (const text of lines()) expect(JSON.parse(text)).toMatchObject({ number: count++ });
  expect([count, await ended]).toEqual([2_000, [3, null]]);
});
