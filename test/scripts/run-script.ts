import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { projectFolder } from '../architecture/source-files.ts';

export interface ScriptEnd {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a file of `scripts/` as npm would, in a pipe instead of a terminal. */
export async function runScript(args: string[], env: NodeJS.ProcessEnv): Promise<ScriptEnd> {
  // Compiling is a third of such a short run.
  const own = { PATH: process.env['PATH'], NODE_COMPILE_CACHE: join(process.env['TEST_FOLDER']!, 'compiled') };
  const child = spawn(process.execPath, args, { cwd: projectFolder, env: { ...own, ...env } });
  child.stdin.end();
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: code as number | null, stdout, stderr };
}
