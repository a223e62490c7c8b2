import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { NoAnswer, RequestFailed } from '../client/index.ts';
import { contract } from './contract.ts';
import { tools } from './tools.ts';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { TranscriptionClient } from '../client/index.ts';

/** Arguments are not checked here: the service does that by the contract, and names what is wrong. */
export function createMcpServer(client: TranscriptionClient): Server {
  const { title, version } = contract.info;
  const server = new Server({ name: 'transcription', title, version }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: Object.entries(tools).map(([name, { description, inputSchema, annotations }]) => ({
      ...{ name, description, inputSchema, annotations },
    })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }): Promise<CallToolResult> => {
    const tool = tools[params.name];
    if (tool === undefined) return failure(`There is no tool ${params.name}, only ${Object.keys(tools).join(', ')}.`);
    try {
      return { content: [{ type: 'text', text: await tool.run(client, params.arguments ?? {}, signal) }] };
    } catch (error) {
      return failure(explained(error));
    }
  });
  return server;
}

const failure = (text: string): CallToolResult => ({ isError: true, content: [{ type: 'text', text }] });

function explained(error: unknown): string {
  if (error instanceof RequestFailed && error.problem !== undefined) return JSON.stringify(error.problem);
  if (error instanceof RequestFailed || error instanceof NoAnswer || isOfFile(error)) return error.message;
  throw error;
}

/** The file that was named can't be read. */
const isOfFile = (error: unknown): error is NodeJS.ErrnoException =>
  Error.isError(error) && 'code' in error && 'path' in error;
