import { createHash } from 'node:crypto';
import {
  appendFile,
  link,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rename,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { transcribeCommand } from '../../../../scripts/transcribe/command-line.ts';
import { sql } from 'kysely';
import { eraseSession } from '../../../../src/sessions/support.ts';
import { startRelay } from '../../../support/faults/relay.ts';
import { gate, says, ScriptedRecognizer } from '../../../support/models/scripted-recognizer.ts';
import { useAccount, useService } from '../../../support/service/use-service.ts';
import { until } from '../../../support/until.ts';
import { tone } from '../../../support/uploads/uploads.ts';
import { useFolder } from '../../../support/use-folder.ts';
import { startCommand } from '../../run-command.ts';
import { startScript } from '../../run-script.ts';
import type { Schema } from '../../../../codegen/operations.ts';
import type { RunningCommand } from '../../run-command.ts';

const service = await useService();
const account = await useAccount(service);
const base = useFolder();
let held = gate();

beforeAll(async () => {
  const recognizer = new ScriptedRecognizer(async ({ options, durationMs }) => {
    await held.passed(options.signal);
    return says(`so many ms: ${durationMs}`);
  });
  await service.work(recognizer);
});

let folder: string;
let out: string;
beforeEach(async () => {
  held = gate();
  held.open();
  folder = await mkdtemp(join(base, 'in-'));
  out = `${folder} out`;
});

const args = (more: string[], url = service.url) => [
  ...['--url', `${url.replace(/\/$/, '')}/v1`],
  ...['--watch', folder, '--out', out, '--settle', '0.2', ...more],
];
const env = () => ({ TRANSCRIPTION_API_KEY: account.key });
const watch = (...more: string[]) => watchWith(args(more));
const watchWith = (typed: string[]) => startCommand(transcribeCommand, typed, { env: env() });
const watchAsProcess = () => startScript(['scripts/transcribe/main.ts', ...args([])], env());

/** A recording of so many ms is there. */
async function drop(name: string, ms: number): Promise<void> {
  await mkdir(dirname(join(folder, name)), { recursive: true });
  await writeFile(join(folder, name), await tone(ms));
}

/** The result once it is there; it is written whole or not at all. */
const result = (name: string) => until(() => readFile(join(out, name), 'utf8').catch(() => undefined));
const gone = (name: string) => until(async () => !(await readdir(out)).includes(name));

/** Names below the folder of results, without those that the watch keeps for itself. */
async function results(): Promise<string[]> {
  const all = await readdir(out, { recursive: true, withFileTypes: true });
  const own = ['.transcribe.jsonl', '.transcribe.lock'];
  return all
    .filter((entry) => entry.isFile() && !own.includes(entry.name))
    .map(({ name, parentPath }) => join(parentPath, name).slice(out.length + 1))
    .sort();
}

async function sessions(): Promise<Schema<'Session'>[]> {
  const { body } = await service.get('/v1/sessions?limit=100', account.key);
  return (body as Schema<'SessionPage'>).items;
}

async function stop(watching: RunningCommand): Promise<string> {
  watching.interrupt();
  const { code, stdout, stderr } = await watching.ended;
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  return stderr;
}

test('what is dropped becomes a transcript in the same place; the next start repeats nothing', async () => {
  const before = (await sessions()).length;
  await drop('there already.wav', 210);
  await drop('.hidden.wav', 210);
  await symlink('/etc/hostname', join(folder, 'link.wav'));
  const first = watch();
  expect(await result('there already.txt')).toBe('so many ms: 210\n');
  await drop('deep/er/two\nlines 🎤.wav', 220);
  expect(await result('deep/er/two\nlines 🎤.txt')).toBe('so many ms: 220\n');
  const said = await stop(first);
  expect(said).toContain('there already.wav → there already.txt\n');
  expect(said).toContain('link.wav is left out: links are not followed\n');
  expect(said).toMatch(/Stopped\. .*\n$/);

  const second = watch();
  await drop('last.wav', 230);
  await result('last.txt');
  expect(await stop(second)).not.toContain('there already.wav');
  expect(await results()).toEqual(['deep/er/two\nlines 🎤.txt', 'last.txt', 'there already.txt']);
  expect(await sessions()).toHaveLength(before + 3);
});

test('kill -9 while it uploads, waits and writes → the next start goes on; nothing lost, doubled or charged twice', async () => {
  const before = (await sessions()).length;
  const names = ['a', 'b', 'c'];
  for (const [index, name] of names.entries()) await drop(`${name}.wav`, 310 + index);
  held = gate();
  for (const moment of ['Uploading a.wav', 'Transcribing c.wav', 'Transcribing a.wav']) {
    const killed = watchAsProcess();
    await killed.says(moment);
    killed.kill('SIGKILL');
    await killed.ended;
  }
  held.open();
  const written = watchAsProcess();
  await written.says('→ b.txt');
  written.kill('SIGKILL');
  await written.ended;
  const last = watch();
  for (const name of names) await result(`${name}.txt`);
  await drop('d.wav', 340);
  await result('d.txt');
  await stop(last);
  expect(await results()).toEqual(['a.txt', 'b.txt', 'c.txt', 'd.txt']);
  const made = (await sessions()).slice(0, -before || undefined);
  expect(made.map(({ title, chargedMs }) => `${title} ${chargedMs}`).sort()).toEqual([
    'a 310',
    'b 311',
    'c 312',
    'd 340',
  ]);
});

test('what was not noted down is neither sent nor written again', async () => {
  const before = (await sessions()).length;
  await drop('a.wav', 320);
  const first = watch();
  await result('a.txt');
  await first.says('→ a.txt');
  await stop(first);
  const journal = join(out, '.transcribe.jsonl');
  const lines = (await readFile(journal, 'utf8')).split('\n').filter((line) => !line.includes('"name"'));
  // The last line was cut by the kill, too.
  await writeFile(journal, `${lines.join('\n')}\n{"path":"a.wav","sha2`);
  // Killed when the file had its name, and the one under which it was written was not removed yet.
  const digest = createHash('sha256').update('a.txt').digest('hex');
  await link(join(out, 'a.txt'), join(out, `.transcribe-${digest.slice(0, 16)}.part`));
  const second = watch();
  await second.says('a.wav → a.txt');
  await stop(second);
  expect(await results()).toEqual(['a.txt']);

  await rm(journal);
  await rm(join(out, 'a.txt'));
  const third = watch();
  await third.says('a.wav → a.txt');
  await stop(third);
  expect(await sessions()).toHaveLength(before + 1);
});

test('a recording that fails has a notice, and is sent again when the notice is deleted or the recording changes', async () => {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'talk.mp3'), 'Dear Sir or Madam');
  const watching = watch();
  expect(await result('talk.mp3.failed.txt')).toMatch(
    /^talk\.mp3 has no transcript\.\n\n.*\((unsupported_media|no_audio)/,
  );
  await rm(join(out, 'talk.mp3.failed.txt'));
  await result('talk.mp3.failed.txt');
  await writeFile(join(folder, 'talk.mp3'), await tone(240));
  expect(await result('talk.txt')).toBe('so many ms: 240\n');
  await gone('talk.mp3.failed.txt');
  await stop(watching);
});

test('a recording that is replaced → its transcript is, too, unless it was edited; touching it does nothing', async () => {
  const before = (await sessions()).length;
  await drop('talk.wav', 250);
  const watching = watch();
  await result('talk.txt');
  await watching.says('→ talk.txt');
  await drop('talk.wav', 260);
  await until(async () => (await result('talk.txt')) === 'so many ms: 260\n');
  await appendFile(join(out, 'talk.txt'), 'by hand');
  await utimes(join(folder, 'talk.wav'), 1, 1);
  await drop('talk.ogg', 270);
  expect(await result('talk.ogg.txt')).toBe('so many ms: 270\n');
  await drop('talk.wav', 280);
  expect(await result('talk.wav.txt')).toBe('so many ms: 280\n');
  expect(await result('talk.txt')).toBe('so many ms: 260\nby hand');
  await stop(watching);
  expect(await sessions()).toHaveLength(before + 4);
});

test('what is there is left; a copy and another format cost nothing again', async () => {
  const before = (await sessions()).length;
  await mkdir(out);
  await writeFile(join(out, 'noted.txt'), 'by hand');
  await drop('noted.wav', 285);
  await drop('one.wav', 290);
  await drop('copy of one.wav', 290);
  const first = watch();
  await first.says('noted.wav: noted.txt is there already');
  expect([await result('one.txt'), await result('copy of one.txt')]).toEqual(Array(2).fill('so many ms: 290\n'));
  await stop(first);
  const second = watch('--format', 'srt');
  expect(await result('one.srt')).toContain('00:00:00,000 -->');
  await result('copy of one.srt');
  await result('noted.srt');
  await stop(second);
  expect(await readFile(join(out, 'noted.txt'), 'utf8')).toBe('by hand');
  expect(await sessions()).toHaveLength(before + 2);
});

test('a recording that is moved after its Idempotency-Key is forgotten → its transcript beside it, charged once; sent again when its session is gone', async () => {
  const before = (await sessions()).length;
  await drop('call.wav', 295);
  const first = watch();
  expect(await result('call.txt')).toBe('so many ms: 295\n');
  await sql`delete from idempotency`.execute(service.db);
  await mkdir(join(folder, 'archive'));
  await rename(join(folder, 'call.wav'), join(folder, 'archive/call.wav'));
  expect(await result('archive/call.txt')).toBe('so many ms: 295\n');
  const now = await sessions();
  expect(now).toHaveLength(before + 1);
  expect(await eraseSession(service, now[0]!.id)).toMatchObject({ kind: 'erased' });
  await rename(join(folder, 'archive/call.wav'), join(folder, 'archive/again.wav'));
  expect(await result('archive/again.txt')).toBe('so many ms: 295\n');
  await stop(first);
  expect(await sessions()).toHaveLength(before + 1);
});

test('a service that is away → said once, and nothing is lost', async () => {
  const relay = await startRelay(service.url);
  await relay.cut();
  await drop('patient.wav', 295);
  await drop('patient too.wav', 296);
  const watching = watchWith(args([], relay.url));
  await watching.says('No connection to the service');
  await relay.mend();
  await result('patient.txt');
  await result('patient too.txt');
  const said = await stop(watching);
  await relay.close();
  expect(said.match(/No connection/g)).toHaveLength(1);
  expect(said).toContain('It goes on.\n');
});

test('a second watch, another folder and a wrong key → refused', async () => {
  const watching = watch();
  await watching.says('Watching');
  expect(await watch().ended).toMatchObject({ code: 1, stderr: expect.stringContaining('right now') });
  await stop(watching);
  folder = await mkdtemp(join(base, 'other-'));
  expect(await watch().ended).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('another folder'),
  });
  out = `${folder} out`;
  const refused = await watch('--key', `${account.key.slice(0, -1)}_`).ended;
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('(unauthorized)') });
});
