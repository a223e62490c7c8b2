/** How every command is run. */
import { readConfig } from '../../src/config/config.ts';
import { Mistake } from '../terminal/mistake.ts';
import { withAdminContext } from './admin-context.ts';
import { Interrupted, NobodyReads } from './exit.ts';
import { whoWorks } from './who.ts';
import type { Writable } from 'node:stream';
import type { Command } from 'commander';
import type { Config } from '../../src/config/config.ts';
import type { Interruption } from '../terminal/interruption.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { AdminContext, Opening } from './admin-context.ts';
import type { LongReport, Report } from './command.ts';

type Work = (admin: AdminContext, form: 'json' | 'text', interruption: Interruption) => Promise<Report | LongReport>;

/**
 * Does the work of a command and prints its report.
 *
 * @param opening see {@link Opening}
 * @param typed settings that go before those of the environment
 */
export type Answer = (command: Command, work: Work, opening?: Opening, typed?: Partial<Config>) => Promise<void>;

/** @param onEnd hears the exit code */
export function answerOn(terminal: Terminal, onEnd: (exitCode: number) => void): Answer {
  const { env, out, err } = terminal;
  const print = printOn(terminal, onEnd);
  return async (command, work, opening, typed = {}) => {
    const { json } = command.optsWithGlobals<{ json?: true }>();
    const config = { ...readConfig(env), ...typed };
    const interruption = terminal.listenForInterruption();
    const { interrupted, stopListening } = interruption;
    interrupted.addEventListener('abort', () => err.write(`${finishing}\n`));
    const run = async (admin: AdminContext) => {
      if (interrupted.aborted) throw new Interrupted();
      const report = await work(admin, json ? 'json' : 'text', interruption);
      if ('print' in report) return onEnd(await report.print(writingTo(out)));
      // Printed before anything is closed: a secret that is shown once must not be lost when closing fails.
      print(report, json);
    };
    const open = async () => withAdminContext(config, err, run, await whoTyped(command, env), opening);
    await explainMistakes(command, open).finally(stopListening);
  };
}

/** @param onEnd hears the exit code */
export function printOn({ out, err }: Terminal, onEnd: (exitCode: number) => void) {
  return (report: Report, json = false): void => {
    out.write(json ? `${JSON.stringify(report.json, null, 2)}\n` : `${report.text}\n`);
    if (report.note !== undefined) err.write(`${report.note}\n`);
    onEnd(report.exitCode ?? 0);
  };
}

const finishing = 'Finishing what has begun; press Ctrl-C again to stop at once.';

const writingTo = (out: Writable) => (piece: string) =>
  new Promise<void>((resolve, reject) => out.write(piece, (error) => (error ? reject(new NobodyReads()) : resolve())));

/** Who works with the command. A wrong `ADMIN_AS` is answered as a mistake. */
export function whoTyped(command: Command, env: NodeJS.ProcessEnv): Promise<string> {
  const { as } = command.optsWithGlobals<{ as?: string }>();
  return explainMistakes(command, async () => whoWorks(as, env));
}

/** Answers a {@link Mistake} with an example, as the command line answers mistakes that it finds itself. */
export async function explainMistakes<T>(command: Command, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Mistake) command.error(`error: ${error.message}`);
    throw error;
  }
}
