import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { boundedCommand } from '../../children/bounded-command.ts';
import { ChildNotStarted, killedBy } from '../../children/child.ts';
import { RecognizerError } from '../recognizer.ts';
import { createAnswers } from './answers.ts';
import type { ChildProcess } from 'node:child_process';
import type { ChildWork, PieceRequest } from './messages.ts';

const main = fileURLToPath(new URL('child-main.ts', import.meta.url));
const stderrTailCharacters = 4096;
/**
 * 256 MiB. Node reads TypeScript with WebAssembly, for which it would reserve up to 4 GiB of the address space that is left
 * to the models.
 */
const nodeArgs = ['--wasm-max-mem-pages=4096'];

/** A process with loaded models, which makes a `Result` of each piece. It dies with this one. */
export interface WarmChild<Result> {
  isAlive(): boolean;
  /**
   * Lets it hear one piece; one at a time. After a rejection the process is gone.
   * @throws {RecognizerError}
   * @throws the abort reason of `signal`
   */
  ask(request: PieceRequest, timeLimitMs: number, signal: AbortSignal): Promise<Result>;
  /** Resolves when it is gone. */
  kill(): Promise<void>;
}

/**
 * The models are loaded while the first piece waits.
 * @throws {ExecutableNotFound}
 */
export async function startWarmChild<Result>(work: ChildWork, memoryBytes: number): Promise<WarmChild<Result>> {
  const limits = { memoryBytes, cpuSeconds: 'unlimited', fileBytes: 0, openFiles: 256 } as const;
  const [program, ...args] = await boundedCommand(process.execPath, [...nodeArgs, main, JSON.stringify(work)], limits);
  const child: ChildProcess = spawn(program, args, { env: {}, detached: true, cwd: '/', stdio: 'pipe' });
  let stderr = '';
  const ended = new Promise<Error>((resolve) => {
    child.on('error', (cause) => resolve(new ChildNotStarted(`sherpa-onnx could not be started: ${cause.message}`)));
    child.once('close', (code, by) => {
      const exited = () => new Error(`sherpa-onnx ended with exit code ${code}: ${stderr.trim()}`);
      resolve(by === null ? exited() : killedBy('sherpa-onnx', by));
    });
  });

  const answers = createAnswers();
  void ended.then((error) => answers.end(error));
  // Where file descriptors have run out, it has none of these.
  child.stderr?.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-stderrTailCharacters)));
  // What can't be written to a process that is gone is told by its end.
  child.stdin?.on('error', () => {});
  child.stdout?.on('data', (chunk: Buffer) => {
    try {
      answers.push(chunk);
    } catch (error) {
      answers.end(new Error(`sherpa-onnx: ${(error as Error).message}`));
      child.kill('SIGKILL');
    }
  });
  const ready = answers.next();
  ready.catch(() => {});

  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  return {
    isAlive: () => child.exitCode === null && child.signalCode === null,
    kill,
    async ask(request, timeLimitMs, signal) {
      const deadline = AbortSignal.timeout(timeLimitMs);
      const stop = AbortSignal.any([signal, deadline]);
      const killNow = () => void child.kill('SIGKILL');
      stop.addEventListener('abort', killNow);
      try {
        stop.throwIfAborted();
        await ready;
        const answer = answers.next();
        child.stdin?.write(`${JSON.stringify(request)}\n`);
        return JSON.parse(await answer) as Result;
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
