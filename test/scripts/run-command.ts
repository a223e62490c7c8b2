/** Runs a command in the test's process. What needs a process of its own is run by `run-script.ts`. */
import { Readable, Writable } from 'node:stream';
import { until } from '../support/until.ts';
import type { CommandLine, Terminal } from '../../scripts/terminal/terminal.ts';
import type { ScriptEnd } from './run-script.ts';

export interface RunningCommand {
  /** Resolves once it has written this to standard error; fails when it ends without. */
  says(text: string): Promise<unknown>;
  /** Ctrl-C. */
  interrupt(): void;
  ended: Promise<ScriptEnd>;
}

export interface Given {
  env?: NodeJS.ProcessEnv | undefined;
  stdin?: string;
}

export const runCommand = (command: CommandLine, argv: readonly string[], given?: Given): Promise<ScriptEnd> =>
  startCommand(command, argv, given).ended;

export function startCommand(command: CommandLine, argv: readonly string[], given?: Given): RunningCommand {
  const terminal = testTerminal(argv, given);
  const { written, interrupt } = terminal;
  let hasEnded = false;
  const running = command(terminal).finally(() => (hasEnded = true));
  return {
    says: (text) =>
      until(() => {
        if (written.stderr.includes(text)) return true;
        if (hasEnded) throw new Error(`it ended: ${written.stderr}`);
        return false;
      }),
    interrupt,
    ended: running.then((code) => ({ code, ...written })),
  };
}

export interface TestTerminal extends Terminal {
  written: { stdout: string; stderr: string };
  interrupt(): void;
}

export function testTerminal(argv: readonly string[] = [], { env = {}, stdin = '' }: Given = {}): TestTerminal {
  const written = { stdout: '', stderr: '' };
  const interruption = new AbortController();
  return {
    ...{ argv, env, stdin: Readable.from([stdin]), written },
    out: collecting((text) => (written.stdout += text)),
    err: collecting((text) => (written.stderr += text)),
    listenForInterruption: () => ({
      interrupted: interruption.signal,
      handOver: () => () => {},
      stopListening: () => {},
    }),
    interrupt: () => interruption.abort(),
  };
}

function collecting(take: (text: string) => void): Writable {
  return new Writable({
    write(piece: Buffer, _encoding, done) {
      take(piece.toString());
      done();
    },
  });
}
