import { copyFile, mkdir, readFile, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { transcribeCommand } from '../../../scripts/transcribe/command-line.ts';
import { giveBack, sendOn, serve } from '../../support/serve.ts';
import { speechClips } from '../../support/uploads/audio-fixtures.ts';
import { gate, says, ScriptedRecognizer } from '../../support/models/scripted-recognizer.ts';
import { useAccount, useService } from '../../support/service/use-service.ts';
import { tone } from '../../support/uploads/uploads.ts';
import { useFolder } from '../../support/use-folder.ts';
import { runCommand, startCommand } from '../run-command.ts';
import { startScript } from '../run-script.ts';
import type { Schema } from '../../../codegen/operations.ts';
import type { UncertainStretch } from '../../../src/recognizers/recognizer.ts';

const service = await useService();
const account = await useAccount(service);
/** Where the command is typed. */
const base = useFolder();
const clip = join(base, 'a "quoted" naïve clip.wav');
let saidNext = says('hello world');
let uncertain: UncertainStretch[] = [];
let held = gate();
const recognizer = new ScriptedRecognizer(async ({ options }) => {
  await held.passed(options.signal);
  for (const stretch of uncertain) options.onUncertain?.(stretch);
  return saidNext;
});

beforeAll(async () => {
  await service.work(recognizer);
  await copyFile((await speechClips())[1]!.file, clip);
});
beforeEach(() => {
  held = gate();
  held.open();
});

const env = { TRANSCRIPTION_API_KEY: account.key, INIT_CWD: base };
const withUrl = (args: string[], url = service.url) => ['--url', `${url}/v1`, ...args];
const transcribe = (args: string[], more: NodeJS.ProcessEnv = {}, url?: string) =>
  runCommand(transcribeCommand, withUrl(args, url), { env: { ...env, ...more } });
const start = (...args: string[]) => startCommand(transcribeCommand, withUrl(args), { env });

async function sessions(query = ''): Promise<Schema<'Session'>[]> {
  const { body } = await service.get(`/v1/sessions?limit=100${query}`, account.key);
  return (body as Schema<'SessionPage'>).items;
}
const titles = async () => (await sessions()).map(({ title }) => title);

test('a recording → the transcript alone on standard output, how it goes on standard error in plain lines, exit 0', async () => {
  expect(await startScript(['scripts/transcribe/main.ts', ...withUrl([clip])], env).ended).toEqual({
    ...{ code: 0, stdout: 'hello world\n' },
    stderr: expect.stringMatching(/^Uploading a "quoted" [^\x1b]*\nTranscribing a "quoted" naïve clip\.wav: done\n$/),
  });
});

test('--md → a heading, and paragraphs with their times', async () => {
  const { stdout } = await transcribe([clip, '--md']);
  expect(stdout).toMatch(/^# a "quoted" naïve clip\n\n[\d-]{10}, 0:00:02\n\n\*\*0:00:00\*\* hello world\n$/);
});

test('--json → segments; --words → the words too', async () => {
  const [json, words] = await Promise.all([transcribe([clip, '--json']), transcribe([clip, '--words'])]);
  const segment = { index: 0, startMs: 0, endMs: 200, text: 'hello world' };
  expect(JSON.parse(json.stdout)).toMatchObject({ status: 'completed', segments: [segment] });
  expect(json.stdout).not.toContain('words');
  expect(JSON.parse(words.stdout).segments[0].words).toMatchObject([{ text: 'hello' }, { text: 'world' }]);
});

test('stretches that may lack words → said on stderr once, the first five with their times', async () => {
  uncertain = Array.from({ length: 7 }, (_, n) => ({ startMs: n * 60_000, endMs: n * 60_000 + 9_000, why: 'a loop' }));
  const { stdout, stderr } = await transcribe([clip]);
  uncertain = [];
  expect(stdout).toBe('hello world\n');
  expect(stderr).toContain(
    'naïve clip.wav: Somebody speaks here, but the words are missing or may be wrong. ' +
      '(0:00:00 to 0:00:09, 0:01:00 to 0:01:09, 0:02:00 to 0:02:09, 0:03:00 to 0:03:09, 0:04:00 to 0:04:09, and 2 more)\n',
  );
});

test('a recording without speech → nothing on stdout, said on stderr, exit 0', async () => {
  saidNext = { segments: [] };
  const { code, stdout, stderr } = await transcribe([clip]);
  saidNext = says('hello world');
  expect({ code, stdout: stdout.trim() }).toEqual({ code: 0, stdout: '' });
  expect(stderr).toContain('Nothing was said');
});

test('an answer lost on the way → asked again, one session', async () => {
  const requests: string[] = [];
  const { url } = await serve(async (req, res) => {
    const isFirst = requests.push(`${req.method} ${req.url}`) === 1;
    const answer = await sendOn(req, new URL(req.url!, service.url));
    return isFirst ? answer.resume().on('end', () => req.socket.destroy()) : giveBack(answer, res);
  });
  const before = (await titles()).length;
  const { code, stdout, stderr } = await transcribe([clip], {}, url);
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'hello world\n' });
  expect(stderr).toContain('trying again');
  expect(requests.filter((line) => line === 'POST /v1/transcriptions')).toHaveLength(2);
  expect(await titles()).toHaveLength(before + 1);
});

test('a refused key → detail, code, what to do next and the request id, exit 1', async () => {
  const { code, stdout, stderr } = await transcribe([clip, '--key', `${account.key.slice(0, -1)}_`]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/\(unauthorized\)\n.*keys issue.*\nRequest [0-9a-f-]{36}\n$/);
});

/** A folder of its own with recordings of 200 ms. @returns its path from where the command is typed */
async function recordings(folder: string, ...names: string[]): Promise<string> {
  for (const [index, name] of names.entries()) {
    await mkdir(join(base, folder, name, '..'), { recursive: true });
    await writeFile(join(base, folder, name), await tone(200, 300 + index));
  }
  return folder;
}

const here = (path: string) => readFile(join(base, path), 'utf8');

test('files and folders → a transcript beside each; what fails is told and stops nobody', async () => {
  const folder = await recordings('week', 'Monday.wav', 'late/Tuesday 🎤.WAV', 'same.wav', 'same.mka', '.hidden.wav');
  const single = await recordings('single', 'one.wav');
  await writeFile(join(base, folder, 'letter.mp3'), 'Dear Sir or Madam');
  await writeFile(join(base, folder, 'notes.md'), 'mine');
  await symlink(join(base, single, 'one.wav'), join(base, folder, 'link.wav'));
  const { code, stdout, stderr } = await transcribe([folder, join(single, 'one.wav'), join(single, 'one.wav')]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(await here('week/Monday.txt')).toBe('hello world\n');
  expect((await readdir(join(base, folder))).sort()).toEqual(
    [
      ...['.hidden.wav', 'Monday.txt', 'Monday.wav', 'late', 'letter.mp3', 'link.wav', 'notes.md', 'same.mka'],
      ...['same.mka.txt', 'same.wav', 'same.wav.txt'],
    ].sort(),
  );
  expect((await readdir(join(base, folder, 'late'))).sort()).toEqual(['Tuesday 🎤.WAV', 'Tuesday 🎤.txt']);
  expect(await here('single/one.txt')).toBe('hello world\n');
  expect(stderr).toContain('week/link.wav is left out: links are not followed\n');
  expect(stderr).toContain('week/Monday.wav → week/Monday.txt\n');
  expect(stderr).toContain('week/letter.mp3 → no transcript\n');
  expect(stderr.match(/\((unsupported_media|no_audio_track)\)/g)).toHaveLength(1);
  expect(stderr).toMatch(
    /\n5 of 6 recordings are transcribed\.\n\nweek\/letter\.mp3:\n.*\((unsupported_media|no_audio_track)\)\n.*Request/,
  );
});

test('typed again → what has its transcript is left out, and nothing of it is replaced or sent, without --force', async () => {
  const folder = await recordings('edited', 'talk.wav', 'new.wav');
  await writeFile(join(base, 'edited/talk.txt'), 'by hand');
  const before = (await sessions()).length;
  const first = await transcribe([folder]);
  expect(first.code).toBe(0);
  expect(first.stderr).toContain('edited/talk.wav is left out: edited/talk.txt is there (--force replaces it)');
  expect(first.stderr).toContain('1 of 1 recordings are transcribed.');
  expect(await here('edited/talk.txt')).toBe('by hand');
  expect((await transcribe([folder])).code).toBe(0);
  expect(await sessions()).toHaveLength(before + 1);
  expect((await transcribe([folder, '--force'])).code).toBe(0);
  expect(await here('edited/talk.txt')).toBe('hello world\n');
});

test('--out takes them, with their folders; --reference and other fields hold for each', async () => {
  const folder = await recordings('calls', 'a.wav', 'deep/b.wav');
  const ours = ['--reference', 'CALLS 7', '--retention-days', '30', '--channels', 'separate'];
  const { code } = await transcribe([folder, '--out', 'made/here', '--vtt', ...ours]);
  expect(code).toBe(0);
  expect(await here('made/here/a.vtt')).toMatch(/^WEBVTT\n/);
  expect(await here('made/here/deep/b.vtt')).toMatch(/^WEBVTT\n/);
  const found = await sessions('&reference=CALLS%207');
  expect(found.map(({ title }) => title).sort()).toEqual(['a', 'b']);
  expect(found.every(({ deleteAt }) => deleteAt !== undefined)).toBe(true);
  const { body } = await service.get(`/v1/sessions/${found[0]!.id}/transcript`, account.key);
  expect(body).toMatchObject({ segments: [{ channel: 1 }] });
});

test('every other field of the form is an option, too; --title names one recording', async () => {
  const folder = await recordings('named', 'x.wav');
  const hints = ['--language', 'de-AT', '--speakers', '2', '--keyterm', 'Okapi', '--keyterm', 'Ngorongoro'];
  const named = ['--title', 'Minutes of “May”'];
  const { code } = await transcribe([join(folder, 'x.wav'), ...named, ...hints]);
  expect(code).toBe(0);
  const { options } = recognizer.calls.at(-1)!;
  expect(options).toMatchObject({ language: 'de-AT', speakers: 2, keyterms: ['Okapi', 'Ngorongoro'] });
  expect((await sessions()).map(({ title }) => title)).toContain('Minutes of “May”');
});

test('Ctrl-C → says that the session goes on; --session prints it later, charged once', async () => {
  const folder = await recordings('long', 'meeting.wav');
  held = gate();
  const running = start(join(folder, 'meeting.wav'), '--srt');
  await running.says('Transcribing meeting.wav …');
  running.interrupt();
  const { code, stdout, stderr } = await running.ended;
  expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
  const [, typed] = /\n {2}npm run --silent transcribe -- (--session .*)\n$/.exec(stderr)!;
  const [, id, ...others] = typed!.split(' ');
  expect(others).toEqual(['--format', 'srt', '--url', `${service.url}/v1`]);
  held.open();
  const fetched = await transcribe(['--session', id!, '--vtt']);
  expect(fetched).toMatchObject({ code: 0, stdout: expect.stringContaining('WEBVTT') });
  expect((await transcribe(['--session', id!])).stdout).toBe('hello world\n');
  const { body } = await service.get(`/v1/sessions/${id}`, account.key);
  expect(body).toMatchObject({ title: 'meeting', chargedMs: 200 });
});

test('Ctrl-C while several are on their way → those go on, the others were not sent', async () => {
  const folder = await recordings('halfway', '1.wav', '2.wav', '3.wav');
  held = gate();
  const before = (await sessions()).length;
  const running = start(folder, '--at-once', '1');
  await running.says('Transcribing 1.wav …');
  running.interrupt();
  const { code, stderr } = await running.ended;
  expect(code).toBe(130);
  expect(stderr).toContain('0 of 3 recordings are transcribed.');
  expect(stderr.match(/--session /g)).toHaveLength(1);
  expect(await sessions()).toHaveLength(before + 1);
});

test('on a terminal → bars, and nothing of the terminal is left changed', async () => {
  const folder = await recordings('shown', 'one.wav', 'two\n\u001b[31m.wav');
  const line = [process.execPath, 'scripts/transcribe/main.ts', ...withUrl([folder])]
    .map((word) => `'${word}'`)
    .join(' ');
  const { code, stdout } = await startScript(['-qec', line, '/dev/null'], env, ['script']).ended;
  expect(code).toBe(0);
  expect(stdout).toMatch(/█{20} 100 % {2}\d:\d\d {2}/);
  expect(stdout).toContain('2 of 2 recordings are transcribed.');
  expect(stdout).not.toMatch(/\x1b\[\?|\x1b\[31m/);
});

test.each([
  ['a file that is not there', ['nowhere.wav'], {}, 'nowhere.wav'],
  ['two formats', ['single/one.wav', '--srt', '--vtt'], {}, '--vtt'],
  ['no key', ['single/one.wav'], { TRANSCRIPTION_API_KEY: '', DATA_DIR: 'nowhere' }, 'TRANSCRIPTION_API_KEY'],
  [
    '--title for several',
    ['edited', 'single/one.wav', '--title', 'X'],
    {},
    '--title can be that of one recording only',
  ],
  ['a title that the contract refuses', ['single/one.wav', '--title', ' '], {}, '--title " " must match'],
  ['a session and a file', ['single/one.wav', '--session', 'x'], {}, 'one at a time'],
  ['--watch', ['--watch', '.', '--out', '.'], {}, '--watch is gone. Type FOLDER --out FOLDER again'],
  ['nothing', [], {}, 'Say what to transcribe'],
])('%s → what was wrong, exit 2', async (_, args, env, named) => {
  const { code, stdout, stderr } = await transcribe(args, env);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(named);
});
