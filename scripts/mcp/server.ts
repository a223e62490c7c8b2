import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { NoAnswer, NotReadable, RequestFailed } from '../client/index.ts';
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
    const tool = Object.hasOwn(tools, params.name) ? tools[params.name] : undefined;
    if (tool === undefined) return failure(`There is no tool ${params.name}, only ${Object.keys(tools).join(', ')}.`);
    try {
      const answer = await tool.run(client, params.arguments ?? {}, signal);
      if (answer === undefined) return failure('The answer has no body, so something else than the service gave it.');
      return { content: [{ type: 'text', text: typeof answer === 'string' ? answer : JSON.stringify(answer) }] };
    } catch (error) {
      return failure(explained(error));
    }
  });
  return server;
}

const failure = (text: string): CallToolResult => ({ isError: true, content: [{ type: 'text', text }] });

function explained(error: unknown): string {
  if (error instanceof RequestFailed && error.problem !== undefined) return JSON.stringify(error.problem);
  const isTold = [RequestFailed, NoAnswer, NotReadable].some((kind) => error instanceof kind) || isOfFile(error);
  if (isTold) return (error as Error).message;
  throw error;
}

/** The file that was named can't be read. */
const isOfFile = (error: unknown): error is NodeJS.ErrnoException =>
  Error.isError(error) && 'code' in error && 'path' in error;
