import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createLog } from '../../../src/ops/log.ts';
import { canMountDisks, smallDisk } from '../../support/faults/small-disk.ts';

const log = fileURLToPath(new URL('../../../src/ops/log.ts', import.meta.url));

/** A program with a log on standard output. */
const logging = (program: string) => [
  ...[process.execPath, '--input-type=module', '-e'],
  `import { createLog } from ${JSON.stringify(log)};\nconst log = createLog({ logLevel: 'info' });\n${program}`,
];

const messagesOf = (text: string) =>
  text.split('\n').flatMap((line) => (line === '' ? [] : (JSON.parse(line) as { msg: string }).msg));

function run(command: string[]) {
  const [program, ...args] = command;
  return spawnSync(program!, args, { encoding: 'utf8', maxBuffer: 16 * 1024 * 1024 });
}

const three = `for (const word of ['one', 'two', 'three']) log.info(word);`;

test.each([
  ['that ends by itself', '', 0],
  ['that exits in the same turn', 'process.exit(3);', 3],
  ['that throws in the same turn', 'throw new Error();', 1],
])('a process %s → every line once, in order', (_, end, status) => {
  const ended = run(logging(`${three}\n${end}`));
  expect(ended.status).toBe(status);
  expect(messagesOf(ended.stdout)).toEqual(['one', 'two', 'three']);
});

test('more lines in one turn than may wait for room on a disk → a file gets all of them', () => {
  const file = join(mkdtempSync(join(process.env.TEST_FOLDER!, 'log-')), 'log');
  const program = logging(`for (let line = 0; line < 20_000; line += 1) log.info(String(line));`);
  run(['sh', '-c', `exec "$@" > '${file}'`, 'sh', ...program]);
  expect(messagesOf(readFileSync(file, 'utf8'))).toHaveLength(20_000);
});

test('what is logged while the process exits comes out, after what was logged before', () => {
  const program = `log.info('first');\nprocess.on('exit', () => log.info('last'));\nprocess.exit();`;
  expect(messagesOf(run(logging(program)).stdout)).toEqual(['first', 'last']);
});

test('a log on a full disk does not end the process, nor keep it from ending', () => {
  const ended = run(['sh', '-c', 'exec "$@" > /dev/full', 'sh', ...logging(`${three}\nprocess.exitCode = 3;`)]);
  expect(ended).toMatchObject({ status: 3, stderr: '' });
});

/**
 * Logs 0, 1, 2, … on a disk that is full until half of them were logged, and something more afterwards.
 * @returns what is on the disk then
 */
function logOnFullDisk(count: number, text: string): { msg: string; lost?: number }[] {
  const folder = mkdtempSync(join(process.env.TEST_FOLDER!, 'log-'));
  const program = `
    import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
    const turn = () => new Promise((done) => setTimeout(done, 5));
    const filler = openSync('${folder}/filler', 'w');
    try { for (;;) writeSync(filler, Buffer.alloc(4096)); } catch (error) { process.stderr.write(error.code + '\\n'); }
    for (let line = 0; line < ${count}; line += 1) {
      log.info({ text: '${text}' }, String(line));
      if (line % 100 === 0) await turn();
      if (line === ${count / 2}) rmSync('${folder}/filler'), closeSync(filler);
    }
    const written = () => readFileSync('${folder}/log', 'utf8');
    while (!written().includes('"msg":"${count - 1}"')) await turn();
    process.stderr.write(written());`;
  const toDisk = ['sh', '-c', `exec "$@" > '${folder}/log'`, 'sh'];
  const ended = run([...smallDisk(folder, '4m'), ...toDisk, ...logging(program)]);
  const [code, ...lines] = ended.stderr.trimEnd().split('\n');
  expect(code).toBe('ENOSPC');
  return lines.map((line) => JSON.parse(line) as { msg: string; lost?: number });
}

// Where mounting is forbidden, the log on /dev/full above stands for these.
test('a log on a disk that was full → every line once, in order, when there is room again', () => {
  if (!canMountDisks()) return;
  const lines = logOnFullDisk(600, '');
  expect(lines.map(({ msg }) => msg)).toEqual(Array.from({ length: 600 }, (_, line) => String(line)));
});

test('more than 1 MiB of lines while the disk is full → the log says how many were lost', () => {
  if (!canMountDisks()) return;
  const lines = logOnFullDisk(4_000, 'x'.repeat(600));
  const told = lines.filter(({ lost }) => lost !== undefined);
  expect(told).toHaveLength(1);
  expect(told[0]!.lost).toBeGreaterThan(0);
  expect(lines.length - 1 + told[0]!.lost!).toBe(4_000);
});

test('an error of the database, or one that has it as its cause → logged without the row that it quotes', () => {
  const lines: string[] = [];
  const log = createLog({ logLevel: 'info' }, { write: (line) => void lines.push(line) });
  const ofRow = Object.assign(new Error('duplicate key'), { code: '23505', detail: 'Key (title)=(secret) exists.' });
  log.error({ err: ofRow }, 'failed');
  log.error({ err: new Error('around it', { cause: ofRow }) }, 'failed');
  expect(lines.map((line) => line.includes('23505'))).toEqual([true, true]);
  expect(lines.join('')).not.toContain('secret');
});
