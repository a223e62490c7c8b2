import { appendFile, rename, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { transcribeCommand } from '../../../scripts/transcribe/command-line.ts';
import { RecordingFile } from '../../../scripts/transcribe/recording-file.ts';
import { RecordingChanged } from '../../../scripts/transcribe/refusals.ts';
import { uploadForm } from '../../../scripts/transcribe/upload.ts';
import { useAccount, useService } from '../../support/service/use-service.ts';
import { tone, traces } from '../../support/uploads/uploads.ts';
import { useFolder } from '../../support/use-folder.ts';
import { runCommand } from '../run-command.ts';
import type { AddressInfo, Socket } from 'node:net';

const service = await useService();
const account = await useAccount(service);
const folder = useFolder();
const path = join(folder, 'talk.wav');
let bytes: Buffer;

beforeEach(async () => {
  bytes = await tone(500);
  await writeFile(path, bytes);
});

test('another file that gets its name meanwhile is not read', async () => {
  await using recording = await RecordingFile.open(path);
  await writeFile(`${path}.new`, 'another');
  await rename(`${path}.new`, path);
  expect(await buffer(recording.read())).toEqual(bytes);
});

test.each<[string, () => Promise<void>]>([
  ['a file that grows', () => appendFile(path, 'more')],
  ['a file that is cut', () => truncate(path, 100)],
])('%s → the form fails before its end, and nothing of it is accepted', async (_, change) => {
  await using recording = await RecordingFile.open(path);
  await change();
  const form = uploadForm(recording, []);
  await expect(buffer(form.open(() => {}))).rejects.toThrow(RecordingChanged);
  const headers = { ...form.headers, Authorization: `Bearer ${account.key}` };
  const init = { method: 'POST', headers, body: form.open(() => {}), duplex: 'half' } as const;
  await expect(fetch(`${service.url}/v1/transcriptions`, init)).rejects.toThrow('fetch failed');
  expect(await traces(service, account)).toMatchObject({ sessions: 0, jobs: 0, records: 0, reservedMs: 0 });
});

test('npm run transcribe says that the file was changed, instead of trying again', async () => {
  await truncate(path, 64 * 1024 ** 2);
  const { promise: connected, resolve } = Promise.withResolvers<Socket>();
  const server = createServer((socket) => resolve(socket.pause()));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const env = { TRANSCRIPTION_API_KEY: account.key };
  const sending = runCommand(transcribeCommand, [path, '--url', `http://127.0.0.1:${port}/v1`], { env });
  // More is to be sent than waits between the two sockets, so the end of the file was not read yet.
  const socket = await connected;
  await appendFile(path, 'more');
  socket.resume();
  expect(await sending).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/\n.*was changed while it was read\n$/),
  });
  server.close();
});
