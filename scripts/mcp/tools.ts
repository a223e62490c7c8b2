/** The tools that an assistant gets. Their arguments are the contract's parameters and fields. */
import { openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { NotReadable, persistently } from '../client/index.ts';
import { parametersOf, uploadFields } from './contract.ts';
import type { paths } from '../../codegen/api.ts';
import type { TranscriptionClient, UploadFields } from '../client/index.ts';

type Arguments = Record<string, unknown>;

interface Tool {
  description: string;
  inputSchema: { type: 'object'; properties: Record<string, object>; required?: string[] };
  annotations: { readOnlyHint: boolean };
  /** @returns text, or what is shown as JSON; nothing where an answer has no body */
  run(client: TranscriptionClient, given: Arguments, signal: AbortSignal): Promise<unknown>;
}

type Get<Path extends keyof paths> = paths[Path]['get'] extends { parameters: infer Parameters } ? Parameters : never;

const { q, ...filters } = parametersOf('listSessions');
const { id, wait: _, include: __, ...formats } = parametersOf('getTranscript');
const reading = { readOnlyHint: true };

export const tools: Record<string, Tool> = {
  upload: {
    description:
      'Uploads an audio or video file of this machine for transcription, which costs its duration, and answers with the ' +
      '`sessionId`. Then call `wait`.',
    inputSchema: {
      type: 'object',
      properties: { path: { type: 'string', description: 'The absolute path of the file.' }, ...uploadFields() },
      required: ['path'],
    },
    annotations: { readOnlyHint: false },
    async run(client, { path, ...fields }, signal) {
      // npm runs scripts in the project's folder; the assistant means the folder that it was started in.
      const file = resolve(process.env['INIT_CWD'] ?? '', String(path));
      if (!(await stat(file)).isFile()) throw new NotReadable(`${file} is not a file.`);
      const recording = new File([await openAsBlob(file)], basename(file));
      return client.upload(recording, fields as UploadFields, { signal });
    },
  },
  wait: {
    description:
      'Waits up to 30 seconds for a session. Answers with the session: call again until its `status` is `completed` or `failed`. ' +
      'Tell the person its `warnings`.',
    inputSchema: { type: 'object', properties: { id: id! }, required: ['id'] },
    annotations: reading,
    async run(client, given, signal) {
      const path = given as Get<'/sessions/{id}'>['path'];
      const params = { path, query: { wait: 30 } };
      await persistently(() => client.api.GET('/sessions/{id}/transcript', { params, signal }), { signal });
      return persistently(() => client.api.GET('/sessions/{id}', { params: { path }, signal }), { signal });
    },
  },
  read: {
    description:
      'The transcript of a completed session, as plain text (`txt`) unless `format` says otherwise; with `q` only the parts that say it.',
    inputSchema: { type: 'object', properties: { id: id!, ...formats }, required: ['id'] },
    annotations: reading,
    async run(client, { id: session, ...query }, signal) {
      const params = { path: { id: session }, query: { format: 'txt', ...query } } as Get<'/sessions/{id}/transcript'>;
      const read = () => client.api.GET('/sessions/{id}/transcript', { params, parseAs: 'text', signal });
      return (await persistently<unknown>(read, { signal })) ?? 'Nothing was said in this recording.';
    },
  },
  search: {
    description:
      'The sessions whose title or transcript says something, newest first, each with up to three places in `matches`.',
    inputSchema: { type: 'object', properties: { q: q!, ...filters }, required: ['q'] },
    annotations: reading,
    run: list,
  },
  list: {
    description: 'The sessions of the account, newest first, a page at a time.',
    inputSchema: { type: 'object', properties: filters },
    annotations: reading,
    run: list,
  },
};

function list(client: TranscriptionClient, query: Arguments, signal: AbortSignal): Promise<unknown> {
  const params = { query } as Get<'/sessions'>;
  return persistently(() => client.api.GET('/sessions', { params, signal }), { signal });
}
