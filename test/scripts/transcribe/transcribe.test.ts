import { appendFile, copyFile, mkdir, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Patience } from '../../../scripts/client/persistence.ts';
import { transcribeCommand } from '../../../scripts/transcribe/command-line.ts';
import { jest } from '../../support/run/jest.ts';
import { serve } from '../../support/serve.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { speechClips } from '../../support/uploads/audio-fixtures.ts';
import { says, ScriptedRecognizer } from '../../support/models/scripted-recognizer.ts';
import { useService } from '../../support/service/use-service.ts';
import { runCommand } from '../run-command.ts';
import type { UncertainStretch } from '../../../src/recognizers/recognizer.ts';
import { startUnsteadyProxy } from './unsteady-proxy.ts';

let key: string;
let folder: string;
let clip: string;
let saidNext = says('hello world');
let uncertain: UncertainStretch[] = [];

const service = await useService();
beforeAll(async () => {
  await service.work(
    new ScriptedRecognizer(async ({ options }) => {
      for (const stretch of uncertain) options.onUncertain?.(stretch);
      return saidNext;
    }),
  );
  key = (await makeAccount(service.db)).key;
  folder = join(service.dataDir, 'recordings');
  await mkdir(folder);
  clip = join(folder, 'a "quoted" naïve clip.wav');
  await copyFile((await speechClips())[1]!.file, clip);
});

const transcribe = (args: string[], env: NodeJS.ProcessEnv = {}, url = service.url) =>
  runCommand(transcribeCommand, ['--url', `${url}/v1`, ...args], { env: { TRANSCRIPTION_API_KEY: key, ...env } });

async function titles(): Promise<string[]> {
  const { body } = await service.get('/v1/sessions?limit=100', key);
  return (body as { items: { title: string }[] }).items.map(({ title }) => title);
}

test('a recording → its text alone on stdout, plain progress lines on stderr', async () => {
  const { code, stdout, stderr } = await transcribe([clip]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'hello world\n' });
  expect(stderr).toMatch(/^Uploading a "quoted" naïve clip\.wav \(95\.\d kB\) …\n/);
  expect(stderr).toMatch(
    /: done\nTranscribing a "quoted" naïve clip\.wav …\nTranscribing a "quoted" naïve clip\.wav: done\n$/,
  );
  expect(stderr).not.toContain('\x1b');
  expect(await titles()).toContain('a "quoted" naïve clip');
});

test.each([
  ['--srt', '1\n00:00:00,000 --> 00:00:01,000\nhello world\n'],
  ['--vtt', 'WEBVTT\n\n00:00:00.000 --> 00:00:01.000\nhello world\n'],
])('%s → captions', async (option, captions) => {
  const { code, stdout } = await transcribe([clip, option]);
  expect({ code, stdout: stdout.replaceAll('\r\n', '\n').trimEnd() }).toEqual({ code: 0, stdout: captions.trimEnd() });
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
  const proxy = await startUnsteadyProxy(service.url, 'answer lost');
  const before = (await titles()).length;
  const { code, stdout, stderr } = await transcribe([clip], {}, proxy.url);
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'hello world\n' });
  expect(stderr).toContain('trying again');
  expect(proxy.requests.filter((line) => line === 'POST /v1/transcriptions')).toHaveLength(2);
  expect(await titles()).toHaveLength(before + 1);
});

test('503 → asked again after Retry-After', async () => {
  const proxy = await startUnsteadyProxy(service.url, 'unavailable');
  const { code, stderr } = await transcribe([clip], {}, proxy.url);
  expect(code).toBe(0);
  expect(stderr).toContain('(unavailable); trying again in 1 s');
});

test('a refused key → detail, code, what to do next and the request id, exit 1', async () => {
  const { code, stdout, stderr } = await transcribe([clip, '--key', `${key.slice(0, -1)}_`]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/\(unauthorized\)\n.*keys issue.*\nRequest [0-9a-f-]{36}\n$/);
});

test('a file without audio → refused with its code, exit 1', async () => {
  const file = join(folder, 'letter.txt');
  await writeFile(file, 'Dear Sir or Madam');
  const { code, stderr } = await transcribe([file]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/\((unsupported_media|no_audio_track)\)\nRequest /);
});

test('a file that grows while it is sent → says so instead of trying again, exit 1', async () => {
  const file = join(folder, 'large.wav');
  await writeFile(file, '');
  await truncate(file, 64 * 1024 ** 2);
  // More is to be sent than waits between the two sockets, so the end of the file was not read yet.
  const { url } = await serve((req) => void appendFile(file, 'more').then(() => req.resume()));
  const { code, stderr } = await transcribe([file], {}, url);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/\n.*was changed while it was sent\..*\n$/),
  });
});

test('no service at that address → says how to start it; when it stays so, exit 1', async () => {
  const lost = jest.spyOn(Patience.prototype, 'pauseMs').mockReturnValueOnce(1).mockReturnValue(undefined);
  const proxy = await startUnsteadyProxy(service.url, 'unavailable');
  await proxy.close();
  const { code, stderr } = await transcribe([clip], {}, proxy.url);
  lost.mockRestore();
  expect(code).toBe(1);
  expect(stderr.match(/Start it: npm start/g)).toHaveLength(2);
});

test.each([
  ['no file', [], {}, 'FILE'],
  ['a file that is not there', ['nowhere.wav'], {}, 'nowhere.wav'],
  ['a device', ['/dev/null'], {}, 'is not a file'],
  ['two formats', ['package.json', '--srt', '--vtt'], {}, '--vtt'],
  ['an unknown option', ['package.json', '--loud'], {}, '--loud'],
  ['an address that is none', ['package.json', '--url', 'nonsense'], {}, 'nonsense'],
  ['no key', ['package.json'], { TRANSCRIPTION_API_KEY: '', DATA_DIR: 'nowhere' }, 'TRANSCRIPTION_API_KEY'],
])('%s → what was wrong, exit 2', async (_, args, env, named) => {
  const { code, stdout, stderr } = await transcribe(args, env);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(named);
});
