/** `npm run mcp`, asked by the client of the official SDK. */
import { join, resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { makeAccount } from '../../support/service/accounts.ts';
import { says, ScriptedRecognizer } from '../../support/models/scripted-recognizer.ts';
import { speechClips } from '../../support/uploads/audio-fixtures.ts';
import { useService } from '../../support/service/use-service.ts';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';

const root = resolve(import.meta.dirname, '../../..');
const service = await useService();
const assistant = new Client({ name: 'test', version: '1' });
let recording: string;
beforeAll(async () => {
  await service.work(new ScriptedRecognizer(async () => says('hello world')));
  recording = (await speechClips())[1]!.file;
  const { key } = await makeAccount(service.db);
  const env = { ...getDefaultEnvironment(), TRANSCRIPTION_API_KEY: key };
  const args = [join(root, 'scripts/mcp/main.ts'), '--url', `${service.url}/v1`];
  await assistant.connect(new StdioClientTransport({ command: process.execPath, args, cwd: root, env }));
});
afterAll(() => assistant.close());

async function call(name: string, given: object): Promise<{ text: string; isError: boolean }> {
  const answer = (await assistant.callTool({ name, arguments: { ...given } })) as CallToolResult;
  const [content] = answer.content;
  return { text: content?.type === 'text' ? content.text : '', isError: answer.isError ?? false };
}

const json = async (name: string, given: object): Promise<unknown> => JSON.parse((await call(name, given)).text);

test('the tools → with the fields and parameters of the contract', async () => {
  const { tools } = await assistant.listTools();
  const named = tools.map(({ name, inputSchema }) => [name, Object.keys(inputSchema.properties ?? {})]);
  expect(Object.fromEntries(named)).toEqual({
    upload: [
      ...['path', 'durationMs', 'title', 'reference', 'retentionDays', 'channels', 'language', 'speakers', 'keyterms'],
    ],
    wait: ['id'],
    read: ['id', 'format', 'q'],
    search: ['q', 'limit', 'cursor', 'status', 'createdAfter', 'createdBefore', 'reference', 'language'],
    list: ['limit', 'cursor', 'status', 'createdAfter', 'createdBefore', 'reference', 'language'],
  });
  expect(JSON.stringify(tools)).not.toContain('$ref');
});

test('a path → uploaded, waited for, read, found and listed', async () => {
  const { sessionId: id } = (await json('upload', { path: recording, speakers: 1 })) as { sessionId: string };
  while (((await json('wait', { id })) as { status: string }).status !== 'completed');
  expect(await call('read', { id })).toEqual({ text: 'hello world\n', isError: false });
  expect((await call('read', { id, format: 'vtt' })).text).toMatch(/^WEBVTT\n/);
  expect(await json('search', { q: 'world' })).toMatchObject({ items: [{ id, matches: [{ text: 'hello world' }] }] });
  expect(await json('list', { status: ['completed', 'failed'], limit: 1 })).toMatchObject({ items: [{ id }] });
  expect(await json('list', { status: ['queued'] })).toEqual({ items: [] });
});

test.each([
  ['upload', { path: '/nowhere/a.wav' }, /no such file/i],
  ['upload', { path: resolve(root, 'package.json') }, /"code":"unsupported_media"/],
  ['read', { id: '01a1f89b-f1a2-7605-ae51-71a046f5ee3c' }, /"code":"session_not_found"/],
  ['list', { page: 1 }, /"name":"page","message":"is not known"/],
  ['upload', { path: root }, /is not a file/],
  ['erase', {}, /only upload, wait, read, search, list/],
])('%s %j → an error that says what is wrong', async (name, given, expected) => {
  const { text, isError } = await call(name, given);
  expect({ text, isError }).toEqual({ text: expect.stringMatching(expected), isError: true });
});
