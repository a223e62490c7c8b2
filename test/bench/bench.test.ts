/** Every bench in its smallest size: what it prints and leaves behind, and that ^C leaves nothing. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { chromium } from 'playwright-core';
import { benches } from '../../scripts/bench/benches.ts';
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

/** What one of them needs besides: models, and clips by person. */
async function given(name: string): Promise<string[]> {
  if (name !== 'speakers') return [];
  const [models, voices] = [join(out, 'diarization'), join(out, 'voices')];
  await makeTinyDiarization(models);
  for (const [index, { file, text }] of (await speechClips()).entries()) {
    const person = join(voices, index % 2 === 0 ? 'ann' : 'bob');
    await mkdir(person, { recursive: true });
    await copyFile(file, join(person, `${index}.wav`));
    await writeFile(join(person, `${index}.txt`), text);
  }
  return ['--diarization', models, voices];
}

const names = benches.map(({ name }) => name);
/** Two at a time, since one waits while the other works. */
const limit = pLimit(2);
const runTiny = async (name: string) => bench(name, ...(await given(name)), '--size', 'tiny');
const runs = new Map(names.map((name) => [name, limit(() => runTiny(name))]));

test.each(names)('%s → a table, its JSON, its chart, and nothing else', async (name) => {
  const folder = folderOf(name);
  const { code, stdout, stderr } = (await runs.get(name))!;
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('…') });
  expect(stdout).toMatch(new RegExp(`^${name}: goals\n┌`));
  const run = JSON.parse(await readFile(join(folder, `${name}.json`), 'utf8')) as Run;
  expect(run).toMatchObject({ name, size: 'tiny', machine: { node: process.version } });
  expect(run.checks).not.toEqual([]);
  for (const { work, values } of run.checks) {
    expect(stdout).toContain(work);
    expect(values.length).toBeGreaterThan(0);
    for (const value of values) expect(Number.isFinite(value)).toBe(true);
  }
  expect((await readdir(folder)).filter((file) => file.startsWith('run-'))).toEqual([]);
  expect(processesAbout(folder)).toEqual([]);
});

test('accuracy of the default → at most 4 of 100 words of the five clips wrong, alone and in one recording', async () => {
  const { checks } = JSON.parse(await readFile(join(folderOf('accuracy'), 'accuracy.json'), 'utf8')) as Run;
  const wrong = checks.filter(({ measure }) => measure === 'words wrong');
  expect(wrong.map(({ work }) => work)).toEqual(['the model, asked for each clip', 'clip by clip', 'joined speech']);
  expect(Math.max(...wrong.flatMap(({ values }) => values))).toBeLessThanOrEqual(4);
});

test.each([
  [[], '--diarization names no folder with segmentation.onnx and embedding.onnx'],
  [['--diarization', '/nowhere'], 'no folder of voices is named'],
  [['--diarization', '/nowhere', 'voices'], '/nowhere holds no segmentation.onnx'],
])('speakers %j → says why it did not run', async (args, why) => {
  expect(await bench('speakers', ...args)).toMatchObject({ code: 0, stdout: `not run: ${why}\n` });
});

test('every chart → well-formed, nothing in it cut off, and no text over another or over a bar', async () => {
  const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
  const browser = await chromium.launch({ executablePath, args: ['--headless', '--no-sandbox', '--disable-gpu'] });
  try {
    const page = await browser.newPage();
    for (const { name } of benches) {
      const svg = await readFile(join(folderOf(name), `${name}.svg`), 'utf8');
      expect(await page.evaluate(faultsOf(svg))).toEqual([]);
    }
  } finally {
    await browser.close();
  }
});

/** In the words of a browser: what is wrong with a chart. */
const faultsOf = (svg: string): string => `(() => {
  const parsed = new DOMParser().parseFromString(${JSON.stringify(svg)}, 'image/svg+xml');
  if (parsed.querySelector('parsererror')) return [parsed.querySelector('parsererror').textContent];
  document.body.replaceChildren(document.importNode(parsed.documentElement, true));
  const frame = document.querySelector('svg').getBoundingClientRect();
  const boxes = (kind) => [...document.querySelectorAll(kind)].map((element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    return { name: element.textContent || kind, left, right, top, bottom };
  });
  const texts = boxes('text');
  const bars = boxes('rect').slice(1);
  const isOutside = (box) =>
    box.left < frame.left || box.right > frame.right || box.top < frame.top || box.bottom > frame.bottom;
  const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  return [
    ...[...texts, ...bars].filter(isOutside).map(({ name }) => name + ' is cut off'),
    ...texts.flatMap((text, index) => [...texts.slice(index + 1), ...bars]
      .filter((other) => overlap(text, other)).map(({ name }) => text.name + ' lies over ' + name)),
  ];
})()`;

test.each([
  ['load', 'reads', 'Measuring'],
  ['recognition', 'pipeline', 'Upload → transcript'],
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

test.each([
  [
    ['reeds'],
    'There is no bench reeds, only one-machine, reads, search, uploads, fleet, fairness, growth, accuracy, speakers, pipeline, servers.',
  ],
  [['reads', '--hours', '2'], 'reads does not take --hours.'],
  [['one-machine', '--server', 'http://127.0.0.1:9'], 'one-machine does not take --server.'],
  [['reads', 'recordings'], 'reads does not take a folder.'],
  [['one-machine', '--hours', 'many'], 'Type a number above 0, at most 24.'],
  [['one-machine', '--recognizer', 'ears'], 'Allowed choices are sherpa-onnx, openai'],
  [['reads', '--quickly'], "unknown option '--quickly'"],
])('%j → 2, and what is wrong', async (args, message) => {
  const { code, stdout, stderr } = await bench(...args);
  expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining(message) });
});

test.each([
  ['without recordings', {}, /holds no recording with a reference: what is said in talk.flac has to be in talk.txt/],
  ['that is not there', undefined, /The folder .* can not be read/],
])('accuracy of a folder %s → 1, and what is missing', async (_, files, message) => {
  const folder = join(out, 'recordings');
  if (files !== undefined) await mkdir(folder);
  const { code, stderr } = await bench('accuracy', folder);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(message) });
  await rm(folder, { recursive: true, force: true });
});

test('accuracy of a folder → those with a .txt beside them, whatever their format; the others are named', async () => {
  const folder = join(out, 'talks');
  await mkdir(join(folder, 'monday'), { recursive: true });
  const [first, second] = await speechClips();
  await ffmpeg('-i', second!.file, join(folder, 'monday', 'talk.ogg'));
  await writeFile(join(folder, 'monday', 'talk.txt'), 'He was NOT an ill-disposed young man.\n');
  await copyFile(first!.file, join(folder, 'other.wav'));
  const { code, stdout, stderr } = await bench('accuracy', '--size', 'tiny', '--json', folder);
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('Without a .txt, left out: other.wav') });
  const run = JSON.parse(stdout) as Run;
  expect(run.sizes).toMatchObject({ recordings: '1, joined again and again to 0.75 min' });
  expect(run.figures[0]!.rows.map(([name, by]) => [name, by])).toEqual([
    ['monday/talk.ogg', 'the model'],
    ['monday/talk.ogg', 'the service'],
    ['all clips', 'the model'],
    ['all clips', 'the service'],
    ['joined', 'the service'],
  ]);
});
