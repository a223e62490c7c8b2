import { StringDecoder } from 'node:string_decoder';
import { fileURLToPath } from 'node:url';
import { boundedCommand } from '../../children/bounded-command.ts';
import { closeOf, killGroup, killedBy, spawnGroup } from '../../children/child.ts';
import { RecognizerError } from '../recognizer.ts';
import { answerMark } from './messages.ts';
import type { ChildWork, Complaint, ChunkRequest } from './messages.ts';

const main = fileURLToPath(new URL('child-main.ts', import.meta.url));
/**
 * 256 MiB. Node uses WebAssembly to read TypeScript and would reserve up to 4 GiB of address space for it, which the
 * models need.
 */
const nodeArgs = ['--wasm-max-mem-pages=4096'];
/** What the addon writes to standard error is read where the answers are, so that it is known which chunk it is about. */
const inOneStream = ['-c', 'unset PWD; exec "$0" "$@" 2>&1'];

/** A process with loaded models that makes a `Result` of each chunk. It dies with this process. */
export interface ModelProcess<Result> {
  isAlive(): boolean;
  /**
   * Transcribes one chunk; one at a time. After a rejection the process is gone.
   * @throws {RecognizerError}
   * @throws the abort reason of `signal`
   */
  ask(request: ChunkRequest, timeLimitMs: number, signal: AbortSignal): Promise<Result & Complaint>;
  /** Resolves when the process is gone. */
  kill(): Promise<void>;
}

/**
 * Starts a process. It loads its models while the first chunk waits.
 * @throws {ExecutableNotFound}
 */
export async function startModelProcess<Result>(work: ChildWork, memoryBytes: number): Promise<ModelProcess<Result>> {
  const limits = { memoryBytes, cpuSeconds: 'unlimited', fileBytes: 0, openFiles: 256 } as const;
  const answers = createAnswers();
  const ready = answers.next();
  ready.catch(() => {});
  const args = [...inOneStream, process.execPath, ...nodeArgs, main, JSON.stringify(work)];
  const child = spawnGroup(await boundedCommand('sh', args, limits), 'pipe');
  const ended = closeOf(child, 'sherpa-onnx')
    .then(({ code, by, stderr }) =>
      by === null ? new Error(`sherpa-onnx ended with exit code ${code}: ${stderr}`) : killedBy('sherpa-onnx', by),
    )
    .catch((error: Error) => error)
    .then(answers.end);
  // Where file descriptors have run out, the child has neither of these.
  child.stdin?.on('error', () => {});
  child.stdout?.on('data', answers.push);
  const kill = async () => {
    killGroup(child);
    await ended;
  };

  return {
    isAlive: () => child.exitCode === null && child.signalCode === null,
    kill,
    async ask(request, timeLimitMs, signal) {
      const deadline = AbortSignal.timeout(timeLimitMs);
      const stop = AbortSignal.any([signal, deadline]);
      const killNow = () => void kill();
      stop.addEventListener('abort', killNow);
      try {
        stop.throwIfAborted();
        await ready;
        const answered = answers.next();
        child.stdin?.write(`${JSON.stringify(request)}\n`);
        const { answer, complaint } = await answered;
        return { ...(JSON.parse(answer) as Result), complaint };
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

/** In characters. A minute of the quickest speech, with times and probabilities, takes about 100,000. */
const longestAnswer = 1024 * 1024;
/** What is written about one chunk. Without a bound, a broken addon would fill our memory. */
const mostBytes = 8 * 1024 * 1024;
/** The addon writes much less about a chunk. */
const longestComplaint = 8 * 1024;

type Answer = Complaint & { answer: string };

/** What a child writes. Each answer is asked for before it comes; an unexpected one is dropped. */
export function createAnswers() {
  let readLines: ((chunk: Buffer) => void) | undefined;
  let awaited: PromiseWithResolvers<Answer> | undefined;
  let over: Error | undefined;
  let complaint = '';
  const onLine = (line: string) => {
    if (line.startsWith(answerMark)) awaited?.resolve({ answer: line.slice(answerMark.length), complaint });
    else complaint = `${complaint} ${line}`.trim().slice(-longestComplaint);
  };
  const end = ({ message }: Error) => {
    over ??= new Error(`${message.trim()} ${complaint}`.trim());
    awaited?.reject(over);
  };
  return {
    /** Rejects the answer that is waited for, and all later ones. Only the first error counts. */
    end,
    /** Takes output as it comes. A line that is too long ends all. */
    push(chunk: Buffer): void {
      try {
        if (over === undefined) readLines?.(chunk);
      } catch (error) {
        end(error as Error);
      }
    },
    /** The next answer, with what the addon wrote before it; one at a time. */
    next(): Promise<Answer> {
      awaited = Promise.withResolvers();
      complaint = '';
      // A new splitter for each answer: it bounds all that it is given, and the child lives long.
      readLines = lineReader(onLine);
      if (over !== undefined) awaited.reject(over);
      return awaited.promise;
    },
  };
}

/** Takes UTF-8 as it comes, and hands over its lines. @throws {Error} a line is too long, or all of it is */
function lineReader(onLine: (line: string) => void): (chunk: Buffer) => void {
  const decoder = new StringDecoder('utf8');
  let [rest, bytes] = ['', 0];
  return (chunk) => {
    bytes += chunk.length;
    if (bytes > mostBytes) throw new Error('there is no end of output');
    const lines = (rest + decoder.write(chunk)).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > longestAnswer) throw new Error('a line of output is too long');
    lines.forEach(onLine);
  };
}
