/** Runs the recognizer alone; see `recognize-alone.ts`. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { MemoryPeaks } from './process-tree.ts';

export interface AloneRun {
  text: string;
  /** From the file to its last word. */
  ms: number;
  cpuMs: number;
  memory: MemoryPeaks;
}

/**
 * @param folder for the decoded audio
 * @throws when it fails
 * @throws the abort reason of `signal`
 */
export async function recognizeAlone(file: string, folder: string, signal: AbortSignal): Promise<AloneRun> {
  signal.throwIfAborted();
  const command = [process.execPath, join(import.meta.dirname, 'recognize-alone.ts'), file, folder];
  // It dies with the bench, however the bench ends.
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', ...command], { stdio: ['ignore', 'pipe', 'inherit'] });
  const kill = () => void child.kill('SIGKILL');
  signal.addEventListener('abort', kill);
  const ended = new Promise<number | null>((resolve, reject) => child.once('close', resolve).once('error', reject));
  try {
    const [said, code] = await Promise.all([text(child.stdout), ended]);
    signal.throwIfAborted();
    if (code !== 0) throw new Error(`the recognizer alone ended with exit code ${code}`);
    return JSON.parse(said) as AloneRun;
  } finally {
    signal.removeEventListener('abort', kill);
  }
}
