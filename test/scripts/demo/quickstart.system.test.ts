import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { projectFolder } from '../../architecture/source-files.ts';
import { speechClips, wordErrorRate } from '../../support/uploads/audio-fixtures.ts';
import { processesAbout } from '../../rig/processes.ts';
import { until } from '../../support/until.ts';
import { atEnd } from '../../support/at-end.ts';
import { serve as serveHttp } from '../../support/serve.ts';
import { modelCommand } from '../model/model-command.ts';
import { useFolder } from '../../support/use-folder.ts';
import { runScript } from '../run-script.ts';
import type { SpeechClip } from '../../support/uploads/audio-fixtures.ts';

const env = { PORT: '0', OPS_PORT: '0', MIN_FREE_DISK: '0', HOME: '/nonexistent' };
let dataDir: string;
let clip: SpeechClip;

beforeAll(async () => {
  dataDir = await mkdtemp(join(process.env['TEST_FOLDER']!, 'quick start-'));
  clip = (await speechClips())[3]!;
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));

const quickstart = (args: string[], more: NodeJS.ProcessEnv = {}) =>
  runScript(['scripts/demo/main.ts', ...args], { ...env, DATA_DIR: dataDir, ...more });

/** A script that goes on serving, and what it has written so far. */
function serve(script: string[], folder = dataDir) {
  const child = spawn(process.execPath, script, {
    cwd: projectFolder,
    env: { PATH: process.env['PATH'], ...env, DATA_DIR: folder },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = once(child, 'close');
  const written = async (line: string) => {
    await until(() => output.includes(line) || child.exitCode !== null);
    return output;
  };
  return { child, ended, written };
}

test('--once → transcript of a human voice, curl to paste, key for its owner only, nothing left running', async () => {
  const { code, stdout, stderr } = await quickstart(['--once', '--', clip.file]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const transcript = /Transcript \([\d.]+ s of audio\):\n\n((?: {2}.*\n)+)/.exec(stdout)![1]!;
  expect(wordErrorRate(clip.text, transcript)).toBeLessThan(0.1);
  expect(stdout).toContain(`curl -H "Authorization: Bearer $(cat '${join(dataDir, 'demo-key')}')" -F file=@`);
  expect((await stat(join(dataDir, 'demo-key'))).mode & 0o777).toBe(0o600);
  expect(stdout).not.toContain('tsk_');
  expect(processesAbout(dataDir)).toEqual([]);
});

test('a second run → the same account; it serves until SIGTERM, then ends in order', async () => {
  const key = await readFile(join(dataDir, 'demo-key'), 'utf8');
  const { child, ended, written } = serve(['scripts/demo/main.ts', '--', clip.file]);
  const output = await written('Serving until Ctrl-C');
  expect(output).toContain('Using the demo account');
  const url = /answers at (\S+)/.exec(output)![1]!;
  const answer = await fetch(`${url}/sessions`, { headers: { Authorization: `Bearer ${key.trim()}` } });
  expect(((await answer.json()) as { items: unknown[] }).items).toHaveLength(2);

  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  expect(await written('Stopping')).toMatch(/Stopping …\n$/);
  expect(processesAbout(dataDir)).toEqual([]);
});

test('killed while it serves → the service ends by itself', async () => {
  const { child, written } = serve(['scripts/demo/main.ts', '--', clip.file]);
  expect(await written('It answers at')).toContain('It answers at');
  expect(processesAbout(dataDir)).not.toEqual([]);
  child.kill('SIGKILL');
  await until(() => processesAbout(dataDir).length === 0);
});

// Saving a file is not tried: it would start the service of every other test run again.
test('npm run dev → a log for people and a key that works; SIGINT ends all of it in order', async () => {
  const folder = useFolder();
  const { child, ended, written } = serve(['scripts/dev/main.ts'], folder);
  const output = await written('/sessions\n');
  expect(output).toMatch(/^\[\d\d:\d\d:\d\d\] INFO: api answers$/m);
  const url = /The API answers at (\S+),/.exec(output)![1]!;
  const secret = (await readFile(join(folder, 'demo-key'), 'utf8')).trim();
  const answer = await fetch(`${url}/sessions`, { headers: { Authorization: `Bearer ${secret}` } });
  expect(answer.status).toBe(200);

  child.kill('SIGINT');
  expect(await ended).toEqual([0, null]);
  expect(await written('INFO: stopped')).toContain('INFO: stopped');
  expect(processesAbout(folder)).toEqual([]);
});

test('PORT is taken → says which variable to set, exit 1', async () => {
  const { port } = new URL((await serveHttp(() => {})).url);
  const { code, stderr } = await quickstart(['--once', '--', clip.file], { PORT: port });
  expect(code).toBe(1);
  expect(stderr).toContain(`PORT=${Number(port) + 1}`);
});

test('a service that can not start → the end of its log, exit 1', async () => {
  const { code, stderr } = await quickstart(['--once', '--', clip.file], { PATH: '/usr/sbin' });
  expect(code).toBe(1);
  expect(stderr).toMatch(/setpriv/);
});

test('--model → downloads it when it is missing, and the service recognizes with it', async () => {
  const model = await modelCommand();
  atEnd(model.close);
  const typed = ['--once', '--model', 'sense-voice', '--', (await speechClips())[1]!.file];
  expect(await quickstart(typed, { DATA_DIR: model.dataDir, HF_ENDPOINT: model.hub.url })).toEqual({
    ...{ code: 0, stderr: '' },
    stdout: expect.stringMatching(
      /^Downloading sense-voice [^]*done\nStarting the service …[^]*\n\n {2}low high low [^]*\n/,
    ),
  });
});

test.each([
  ['--twice', 'There is no option --twice'],
  ['nowhere.wav', 'nowhere.wav is not a file'],
  ['--model', '--model needs the name'],
])('./scripts/quickstart %s → usage before anything is installed, exit 2', async (argument, message) => {
  const child = spawn('scripts/quickstart', [argument], { cwd: projectFolder, stdio: ['ignore', 'ignore', 'pipe'] });
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
  expect(code).toBe(2);
  expect(stderr).toMatch(new RegExp(`^${message}[^]*Usage: `));
});
