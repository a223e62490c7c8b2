import { fileURLToPath } from 'node:url';
import { startLastingChild } from '../../children/lasting-child.ts';
import { RecognizerError } from '../recognizer.ts';
import { createAnswers } from './answers.ts';
import type { ChildWork, PieceRequest } from './messages.ts';

const main = fileURLToPath(new URL('child-main.ts', import.meta.url));
/**
 * 256 MiB. Node uses WebAssembly to read TypeScript and would reserve up to 4 GiB of address space for it, which the
 * models need.
 */
const nodeArgs = ['--wasm-max-mem-pages=4096'];

/** A process with loaded models that makes a `Result` of each piece. It dies with this process. */
export interface WarmChild<Result> {
  isAlive(): boolean;
  /**
   * Lets the process hear one piece; one at a time. After a rejection the process is gone.
   * @throws {RecognizerError}
   * @throws the abort reason of `signal`
   */
  ask(request: PieceRequest, timeLimitMs: number, signal: AbortSignal): Promise<Result>;
  /** Resolves when the process is gone. */
  kill(): Promise<void>;
}

/**
 * Starts a process. It loads its models while the first piece waits.
 * @throws {ExecutableNotFound}
 */
export async function startWarmChild<Result>(work: ChildWork, memoryBytes: number): Promise<WarmChild<Result>> {
  const limits = { memoryBytes, cpuSeconds: 'unlimited', fileBytes: 0, openFiles: 256 } as const;
  const answers = createAnswers();
  const ready = answers.next();
  ready.catch(() => {});
  const child = await startLastingChild(process.execPath, [...nodeArgs, main, JSON.stringify(work)], {
    name: 'sherpa-onnx',
    limits,
    onStdout: answers.push,
  });
  void child.ended.then((error) => answers.end(error));

  return {
    isAlive: child.isAlive,
    kill: child.kill,
    async ask(request, timeLimitMs, signal) {
      const deadline = AbortSignal.timeout(timeLimitMs);
      const stop = AbortSignal.any([signal, deadline]);
      const killNow = () => void child.kill();
      stop.addEventListener('abort', killNow);
      try {
        stop.throwIfAborted();
        await ready;
        const answer = answers.next();
        child.write(`${JSON.stringify(request)}\n`);
        return JSON.parse(await answer) as Result;
      } catch (cause) {
        await child.kill();
        signal.throwIfAborted();
        if (deadline.aborted) throw new RecognizerError('timed_out', 'sherpa-onnx took too long', { retryable: true });
        throw new RecognizerError('recognizer_error', (cause as Error).message, { retryable: true, cause });
      } finally {
        stop.removeEventListener('abort', killNow);
      }
    },
  };
}
