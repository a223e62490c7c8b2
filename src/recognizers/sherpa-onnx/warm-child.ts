import { fileURLToPath } from 'node:url';
import { startLastingChild } from '../../children/lasting-child.ts';
import { RecognizerError } from '../recognizer.ts';
import { endOfComplaint } from './messages.ts';
import { splitLines } from '../../children/lines.ts';
import type { LineSplitter } from '../../children/lines.ts';
import type { ChildWork, Complaint, PieceRequest } from './messages.ts';

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
  ask(request: PieceRequest, timeLimitMs: number, signal: AbortSignal): Promise<Result & Complaint>;
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
  const complaints = createComplaints();
  const ready = answers.next();
  ready.catch(() => {});
  const child = await startLastingChild(process.execPath, [...nodeArgs, main, JSON.stringify(work)], {
    name: 'sherpa-onnx',
    limits,
    onStdout: answers.push,
    onStderr: complaints.push,
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
        const answered = Promise.all([answers.next(), complaints.next()]);
        child.write(`${JSON.stringify(request)}\n`);
        const [answer, complaint] = await answered;
        return { ...(JSON.parse(answer) as Result), complaint };
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

/** The addon writes much less about a piece, and a warning at the start is of no interest. */
const longestComplaint = 8 * 1024;

/** Reads what is written to standard error up to the end of each piece. */
function createComplaints() {
  let written = '';
  let awaited: PromiseWithResolvers<string> | undefined;
  const settle = () => {
    const end = written.indexOf(endOfComplaint);
    if (end === -1 || awaited === undefined) return;
    awaited.resolve(written.slice(0, end).trim());
    written = written.slice(end + endOfComplaint.length);
    awaited = undefined;
  };
  return {
    push(chunk: Buffer) {
      written = (written + chunk.toString('utf8')).slice(-longestComplaint);
      settle();
    },
    /** Never settles when the child ends: its answer is rejected then. */
    next(): Promise<string> {
      const next = Promise.withResolvers<string>();
      awaited = next;
      settle();
      return next.promise;
    },
  };
}

/** In characters. A minute of the quickest speech, with times and probabilities, takes about 100,000. */
const longestAnswer = 1024 * 1024;

/** The lines that a child answers with. Each is asked for before it comes; a line that nobody asked for is dropped. */
export interface Answers {
  /** Takes output as it comes. Throws when a line is too long. */
  push(chunk: Buffer): void;
  /** Rejects the answer that is waited for, and all later ones. Only the first error counts. */
  end(error: Error): void;
  /** The next line; one at a time. */
  next(): Promise<string>;
}

export function createAnswers(): Answers {
  let lines: LineSplitter | undefined;
  let awaited: PromiseWithResolvers<string> | undefined;
  let over: Error | undefined;
  return {
    push(chunk) {
      if (over === undefined) lines?.push(chunk);
    },
    end(error) {
      over ??= error;
      awaited?.reject(over);
    },
    next() {
      awaited = Promise.withResolvers<string>();
      // A new splitter for each answer: it bounds all that it is given, and the child lives long.
      lines = splitLines(awaited.resolve, longestAnswer);
      if (over !== undefined) awaited.reject(over);
      return awaited.promise;
    },
  };
}
