/** `npm run --silent mcp`: a Model Context Protocol server on standard input and output, for assistants of people. */
import { parseArgs } from 'node:util';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { TranscriptionClient } from '../client/index.ts';
import { findApiKey } from '../local-service/demo-key.ts';
import { createMcpServer } from './server.ts';

const url = `http://127.0.0.1:${process.env['PORT'] || 8080}/v1`;
const { values } = parseArgs({ options: { url: { type: 'string', default: url } } });
const apiKey = await findApiKey(undefined, values.url, process.env);
if (apiKey === undefined) {
  process.stderr.write('An API key is needed: set TRANSCRIPTION_API_KEY, or run ./scripts/quickstart\n');
  process.exit(2);
}
await createMcpServer(new TranscriptionClient({ url: values.url, apiKey })).connect(new StdioServerTransport());
