/** The answering half as a process of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface ApiProcess {
  port: number;
  pid: number;
  stop(): Promise<void>;
}

const main = fileURLToPath(new URL('../../../src/start-api.ts', import.meta.url));

/**
 * @param env what an operator would set
 * @param wrapper a program, with its arguments, that runs the command it is given
 */
export async function startApiProcess(env: Record<string, string>, wrapper: string[] = []): Promise<ApiProcess> {
  const [program, ...args] = [...wrapper, process.execPath, main];
  const defaults = {
    PATH: process.env.PATH!,
    PORT: '0',
    OPS_PORT: '0',
    MIN_FREE_DISK: '0',
    LOG_LEVEL: 'info',
    VALIDATE_RESPONSES: '1',
  };
  const child = spawn(program!, args, { env: { ...defaults, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(child, 'exit');
  let output = '';
  child.stderr.on('data', (chunk) => (output += String(chunk)));
  for await (const line of createInterface({ input: child.stdout })) {
    output += line;
    const { msg, port } = JSON.parse(line) as { msg?: string; port?: number };
    if (msg !== 'api answers') continue;
    child.stdout.resume();
    return {
      port: port!,
      pid: child.pid!,
      async stop() {
        child.kill('SIGTERM');
        await exited;
      },
    };
  }
  throw new Error(`the process did not start: ${output}`);
}
