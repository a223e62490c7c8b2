/** Runs the real admin command, as `npm run admin -- …` does. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { projectFolder } from '../../architecture/source-files.ts';
import type { TestService } from '../../support/service/service.ts';

export interface AdminEnd {
  code: number | null;
  stdout: string;
  stderr: string;
}

export async function runAdmin(args: string[], env: Record<string, string>, input = ''): Promise<AdminEnd> {
  const child = spawn(process.execPath, ['scripts/admin/main.ts', ...args], {
    cwd: projectFolder,
    // Compiling is a third of such a short run.
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: join(process.env.TEST_FOLDER!, 'compiled'), ...env },
  });
  // A command that ends without reading what it is given breaks the pipe.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: code as number | null, stdout, stderr };
}

/** What a command answers about one thing. */
export type JsonObject = Record<string, unknown> & { id: string };

export interface Admin {
  run(...args: string[]): Promise<AdminEnd>;
  runWithInput(input: string, ...args: string[]): Promise<AdminEnd>;
  /** Runs with `--json`, fails the test unless it succeeds in silence, and answers what was printed. */
  json<T = JsonObject>(...args: string[]): Promise<T>;
}

/** The command beside a running service. */
export function adminOf({ databaseUrl, dataDir }: Pick<TestService, 'databaseUrl' | 'dataDir'>): Admin {
  const env = { DATABASE_URL: databaseUrl, DATA_DIR: dataDir };
  return {
    run: (...args) => runAdmin(args, env),
    runWithInput: (input, ...args) => runAdmin(args, env, input),
    async json<T>(...args: string[]) {
      const end = await runAdmin([...args, '--json'], env);
      expect({ args, ...end }).toEqual({ args, code: 0, stderr: '', stdout: expect.any(String) });
      return JSON.parse(end.stdout) as T;
    },
  };
}

export const refused = (sentence: RegExp | string): AdminEnd => ended(1, sentence);
export const mistaken = (sentence: RegExp | string): AdminEnd => ended(2, sentence);

function ended(code: number, sentence: RegExp | string): AdminEnd {
  return { code, stdout: '', stderr: expect.stringMatching(sentence) };
}

/** The form of every id. */
export const anId = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/) as unknown as string;
/** RFC 3339 in UTC. */
export const aTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/) as unknown as string;
