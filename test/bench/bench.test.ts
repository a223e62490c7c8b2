/** Every bench in its smallest size: what it prints and leaves behind, and that ^C leaves nothing. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { projectFolder } from '../architecture/source-files.ts';
import { descendantsOf, isStillAlive, processesAbout } from '../rig/processes.ts';
import { ffmpeg, speechClips } from '../support/uploads/audio-fixtures.ts';
import { makeTinyDiarization } from '../support/models/tiny/diarization.ts';
import { useFolder } from '../support/use-folder.ts';
import { runScript } from '../scripts/run-script.ts';
import type { Process } from '../rig/processes.ts';
import type { Run } from '../../scripts/bench/bench.ts';

const out = useFolder();

/** Each writes to a folder of its own, so that several can run at once. */
const folderOf = (name: string) => join(out, name);
const bench = (...args: string[]) => runScript(['scripts/bench/main.ts', ...args, '--out', folderOf(args[0]!)], {});

const names = ['one-machine', 'reads', 'uploads', 'accuracy', 'pipeline', 'servers'];

/** Two at a time, since one waits while the other works. */
const limit = pLimit(2);
const runs = new Map(names.map((name) => [name, limit(() => bench(name, '--size', 'tiny'))]));

test.each(names)('%s → a table, its JSON, and nothing else', async (name) => {
  const folder = folderOf(name);
  const { code, stdout, stderr } = (await runs.get(name))!;
  // What it said, where it failed.
  expect(code === 0 ? '' : stderr).toBe('');
  expect(stderr).toContain('…');
  expect(stdout).toMatch(new RegExp(`^${name}: goals\n┌`));
  const run = JSON.parse(await readFile(join(folder, `${name}.json`), 'utf8')) as Run;
  expect(run).toMatchObject({ name, size: 'tiny', machine: { node: process.version } });
  expect(run.checks).not.toEqual([]);
  for (const { work, values } of run.checks) {
    expect(stdout).toContain(work);
    expect(values.length).toBeGreaterThan(0);
    for (const value of values) expect(Number.isFinite(value)).toBe(true);
  }
  expect(await readdir(folder)).toEqual([`${name}.json`]);
  expect(processesAbout(folder)).toEqual([]);
});

test('accuracy of the default → at most 4 of 100 words of the five clips wrong, alone and in one recording', async () => {
  const { checks } = JSON.parse(await readFile(join(folderOf('accuracy'), 'accuracy.json'), 'utf8')) as Run;
  const wrong = checks.filter(({ measure }) => measure === 'words wrong');
  expect(wrong.map(({ work }) => work)).toEqual(['the model, asked for each clip', 'clip by clip', 'joined speech']);
  expect(Math.max(...wrong.flatMap(({ values }) => values))).toBeLessThanOrEqual(4);
});

test.each([
  ['load', 'reads', 'Measuring'],
  ['the recognizer alone', 'pipeline', 'The recognizer alone'],
])('^C during %s → 130, no process and no folder is left', async (_, name, line) => {
  const script = ['scripts/bench/main.ts', name, '--size', 'tiny', '--out', out];
  const child = spawn(process.execPath, script, { cwd: projectFolder, stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(child, 'close');
  let said = '';
  let begun: Process[] = [];
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
    if (begun.length > 0 || !said.includes(line)) return;
    begun = descendantsOf(child.pid!);
    child.kill('SIGINT');
  });
  expect(await ended).toEqual([130, null]);
  expect(begun.length).toBeGreaterThanOrEqual(2);
  expect(begun.filter(isStillAlive)).toEqual([]);
  expect(processesAbout(out)).toEqual([]);
  expect((await readdir(out)).filter((file) => file.startsWith('run-'))).toEqual([]);
});

test('accuracy of a folder → those with a .txt beside them, whatever their format; who said them, where it is told', async () => {
  const [talks, models] = [join(out, 'talks'), join(out, 'data/models/diarization')];
  await makeTinyDiarization(models);
  const [first, second, third] = await speechClips();
  for (const person of ['ann', 'bob']) await mkdir(join(talks, person), { recursive: true });
  await ffmpeg('-i', second!.file, join(talks, 'ann', 'talk.ogg'));
  await writeFile(join(talks, 'ann', 'talk.txt'), 'He was NOT an ill-disposed young man.\n');
  await copyFile(third!.file, join(talks, 'bob', 'talk.wav'));
  await writeFile(join(talks, 'bob', 'talk.txt'), third!.text);
  await copyFile(first!.file, join(talks, 'other.wav'));

  const script = ['scripts/bench/main.ts', 'accuracy', '--size', 'tiny', '--json', talks, '--out', folderOf('talks')];
  const { code, stdout, stderr } = await runScript(script, { DATA_DIR: join(out, 'data') });
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('Without a .txt, left out: other.wav') });
  const run = JSON.parse(stdout) as Run;
  expect(run.sizes).toMatchObject({ recordings: '2, joined again and again to 0.75 min' });
  expect(run.figures![0]!.rows.map(([name]) => name)).toEqual(['ann/talk.ogg', 'bob/talk.wav']);
  expect(run.checks.filter(({ work }) => work === '2 people in turn')).toHaveLength(3);
});
