/** How every command is declared and run. */
import { once } from 'node:events';
import { readConfig } from '../../src/config.ts';
import { withAdminContext } from './admin-context.ts';
import { listenForInterruption } from '../terminal/interruption.ts';
import { Interrupted, Mistake } from './exit.ts';
import { whoWorks } from './who.ts';
import type { Command } from 'commander';
import type { Config } from '../../src/config.ts';
import type { Interruption } from '../terminal/interruption.ts';
import type { AdminContext, Opening } from './admin-context.ts';

export const invocation = 'npm run admin --';

/** What a command answers, for programs and for people. */
export interface Report {
  json: unknown;
  text: string;
  /** A note for people, also beside JSON. It goes to standard error. */
  note?: string | undefined;
  /** 1 for an answer that a program must take for a failure. */
  exitCode?: number;
}

/** An answer that may be too long for the memory: it is printed piece by piece, as fast as it is read. */
export interface LongReport {
  print(write: (piece: string) => Promise<void>): Promise<void>;
}

/** A group such as `accounts`. */
export function addGroup(program: Command, name: string, description: string): Command {
  return program
    .command(name)
    .description(description)
    .showHelpAfterError(`Type ${invocation} ${name} --help to see what there is.`);
}

/**
 * A command with examples, in a group or in the program itself. The first example also answers a mistake in using the
 * command.
 */
export function addCommand(group: Command, name: string, description: string, ...examples: string[]): Command {
  const path = group.parent === null ? invocation : `${invocation} ${group.name()}`;
  const lines = examples.map((example) => `  ${path} ${example}`);
  return group
    .command(name)
    .description(description)
    .addHelpText('after', `\nExamples:\n${lines.join('\n')}`)
    .showHelpAfterError(`For example: ${path} ${examples[0]}\nMore: ${path} ${name} --help`);
}

/**
 * Does the work of a command and prints its report.
 *
 * @param opening see {@link Opening}
 * @param typed settings that go before those of the environment
 */
export async function answer(
  command: Command,
  work: (admin: AdminContext, form: 'json' | 'text', interruption: Interruption) => Promise<Report | LongReport>,
  opening?: Opening,
  typed: Partial<Config> = {},
): Promise<void> {
  const { json } = command.optsWithGlobals<{ json?: true }>();
  const config = { ...readConfig(process.env), ...typed };
  const interruption = listenForInterruption('Finishing what has begun; press Ctrl-C again to stop at once.');
  const notice = (message: string) => process.stderr.write(`${message}\n`);
  const run = async (admin: AdminContext) => {
    if (interruption.interrupted.aborted) throw new Interrupted();
    const report = await work(admin, json ? 'json' : 'text', interruption);
    if ('print' in report) return report.print(write);
    // Printed before anything is closed: a secret that is shown once must not be lost when closing fails.
    process.stdout.write(json ? `${JSON.stringify(report.json, null, 2)}\n` : `${report.text}\n`);
    if (report.note !== undefined) notice(report.note);
    process.exitCode = report.exitCode ?? 0;
  };
  const open = async () => withAdminContext(config, notice, run, await whoTyped(command), opening);
  await explainMistakes(command, open).finally(interruption.stopListening);
}

/** Who works with the command. A wrong `ADMIN_AS` is answered as a mistake. */
export function whoTyped(command: Command): Promise<string> {
  const { as } = command.optsWithGlobals<{ as?: string }>();
  return explainMistakes(command, async () => whoWorks(as, process.env));
}

async function write(piece: string): Promise<void> {
  if (!process.stdout.write(piece)) await once(process.stdout, 'drain');
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
