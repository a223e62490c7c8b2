/** PocketSphinx's own command as Debian has it, with nothing of ours around it. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { cpuOfEndedChildren, watchMemory } from './process-tree.ts';
import type { MemoryPeaks } from './process-tree.ts';

export interface BareRun {
  text: string;
  /** From its start to its end. */
  ms: number;
  cpuMs: number;
  memory: MemoryPeaks;
}

/**
 * Runs `pocketsphinx_continuous -infile FILE`. No other child of this process may end at the same time: its CPU time
 * would count, too.
 * @param file 16 kHz mono WAV
 * @throws when it fails
 * @throws the abort reason of `signal`
 */
export async function recognizeBare(file: string, signal: AbortSignal): Promise<BareRun> {
  signal.throwIfAborted();
  const cpuBefore = cpuOfEndedChildren();
  const began = performance.now();
  const command = ['pocketsphinx_continuous', '-infile', file, '-logfn', '/dev/null'];
  // It dies with the bench, however the bench ends.
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', ...command], { stdio: ['ignore', 'pipe', 'ignore'] });
  const kill = () => void child.kill('SIGKILL');
  signal.addEventListener('abort', kill);
  const ended = new Promise<number | null>((resolve, reject) => child.once('close', resolve).once('error', reject));
  const memory = child.pid === undefined ? undefined : watchMemory(child.pid);
  try {
    const [said, code] = await Promise.all([text(child.stdout), ended]);
    const ms = performance.now() - began;
    signal.throwIfAborted();
    if (code !== 0) throw new Error(`pocketsphinx_continuous ended with exit code ${code}`);
    return { text: said, ms, cpuMs: cpuOfEndedChildren() - cpuBefore, memory: memory!.stop() };
  } finally {
    memory?.stop();
    signal.removeEventListener('abort', kill);
  }
}
