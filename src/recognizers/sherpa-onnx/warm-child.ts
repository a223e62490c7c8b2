import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { boundedCommand } from '../../audio/bounded-command.ts';
import { RecognizerError } from '../recognizer.ts';
import type { OfflineModelConfig } from 'sherpa-onnx-node';
import type { PieceAnswer, PieceRequest, PieceResult } from './messages.ts';

const main = fileURLToPath(new URL('start-child.ts', import.meta.url));
const stderrTailCharacters = 4096;

/** A process with a loaded model. It dies with this one. */
export interface WarmChild {
  isAlive(): boolean;
  /**
   * Recognizes one piece; one at a time. After a rejection the process is gone.
   * @throws {RecognizerError}
   * @throws the abort reason of `signal`
   */
  recognize(request: PieceRequest, timeLimitMs: number, signal: AbortSignal): Promise<PieceResult>;
  /** Resolves when it is gone. */
  kill(): Promise<void>;
}

/**
 * The model is loaded while the first piece waits.
 * @throws {ExecutableNotFound}
 */
export async function startWarmChild(model: OfflineModelConfig, memoryBytes: number): Promise<WarmChild> {
  const limits = { memoryBytes, cpuSeconds: 'unlimited', fileBytes: 0, openFiles: 256 } as const;
  const [program, ...args] = await boundedCommand(process.execPath, [main, JSON.stringify(model)], limits);
  const child = spawn(program, args, { env: {}, detached: true, cwd: '/', stdio: 'pipe' });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-stderrTailCharacters)));
  // What can't be written to a process that is gone is told by its end.
  child.stdin.on('error', () => {});
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(`could not be started: ${error.message}`));
    child.once('close', (code, by) =>
      resolve(by === null ? `ended with exit code ${code}: ${stderr.trim()}` : `was killed by ${by}`),
    );
  });

  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextAnswer = async (): Promise<PieceAnswer> => {
    const line = await lines.next();
    if (line.done) throw new Error(`sherpa-onnx ${await ended}`);
    return JSON.parse(line.value) as PieceAnswer;
  };
  const ready = nextAnswer();
  ready.catch(() => {});

  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  return {
    isAlive: () => child.exitCode === null && child.signalCode === null,
    kill,
    async recognize(request, timeLimitMs, signal) {
      const deadline = AbortSignal.timeout(timeLimitMs);
      const stop = AbortSignal.any([signal, deadline]);
      const killNow = () => void child.kill('SIGKILL');
      stop.addEventListener('abort', killNow);
      try {
        stop.throwIfAborted();
        await ready;
        child.stdin.write(`${JSON.stringify(request)}\n`);
        return (await nextAnswer()) as PieceResult;
      } catch (cause) {
        await kill();
        signal.throwIfAborted();
        if (deadline.aborted) throw new RecognizerError('timed_out', 'sherpa-onnx took too long', { retryable: true });
        throw new RecognizerError('recognizer_error', (cause as Error).message, { retryable: true, cause });
      } finally {
        stop.removeEventListener('abort', killNow);
      }
    },
  };
}
