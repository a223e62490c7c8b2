/** How every command is declared, run and answered. */
import { userInfo } from 'node:os';
import { readConfig } from '../../src/config/config.ts';
import { Mistake } from '../terminal/refusal.ts';
import { withAdminContext } from './admin-context.ts';
import { accountId, text } from './arguments.ts';
import { Interrupted, NobodyReads } from './exit.ts';
import type { Writable } from 'node:stream';
import type { Command } from 'commander';
import type { Config } from '../../src/config/config.ts';
import type { Interruption } from '../terminal/interruption.ts';
import type { Terminal } from '../terminal/terminal.ts';
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
  /** @returns the exit code */
  print(write: (piece: string) => Promise<void>): Promise<number>;
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

/** A command whose first argument is the id of an account. */
export const addAccountCommand = (group: Command, name: string, description: string, ...examples: string[]): Command =>
  addCommand(group, name, description, ...examples).argument('<account>', 'id of the account', accountId);

/** What the work of a command is given before what was typed. */
export interface Asked extends AdminContext {
  form: 'json' | 'text';
  interruption: Interruption;
}

type Work<Typed extends unknown[]> = (asked: Asked, ...typed: Typed) => Promise<Report | LongReport>;

interface Manner<Typed> {
  opening?: Opening | ((...typed: never[]) => Opening);
  /** Runs before the database is opened, and makes of what was typed what the work is given. Ctrl-C ends it at once. */
  first?: (...typed: never[]) => Promise<Typed>;
  /** Settings that go before those of the environment. */
  settings?: (...typed: never[]) => Partial<Config>;
}

/** The action of a command, which does its work and prints its report. The work is given the arguments and the options. */
export type Answer = <Typed extends unknown[]>(
  work: Work<Typed>,
  manner?: Manner<Typed>,
) => (...given: unknown[]) => Promise<void>;

/** @param onEnd hears the exit code */
export function answerOn(terminal: Terminal, onEnd: (exitCode: number) => void): Answer {
  const { env, out, err } = terminal;
  const print = printOn(terminal, onEnd);
  return <Typed extends unknown[]>(work: Work<Typed>, { opening, first, settings }: Manner<Typed> = {}) =>
    (...given) => {
      const command = given.at(-1) as Command;
      const typed = given.slice(0, -1) as never[];
      const { json, as } = command.optsWithGlobals<{ json?: true; as?: string }>();
      return explainMistakes(command, async () => {
        const who = whoWorks(as, env);
        const wanted = first === undefined ? (typed as unknown[] as Typed) : await first(...typed);
        const own = settings?.(...typed);
        const config = { ...readConfig(env), ...own };
        const opens = typeof opening === 'function' ? opening(...typed) : opening;
        const interruption = terminal.listenForInterruption();
        const { interrupted, stopListening } = interruption;
        interrupted.addEventListener('abort', () => err.write(`${finishing}\n`));
        const run = async (admin: AdminContext) => {
          if (interrupted.aborted) throw new Interrupted();
          const report = await work({ ...admin, form: json ? 'json' : 'text', interruption }, ...wanted);
          if ('print' in report) return onEnd(await report.print(writingTo(out)));
          // Printed before anything is closed: a secret that is shown once must not be lost when closing fails.
          print(report, json);
        };
        await withAdminContext(config, err, run, who, opens).finally(stopListening);
      });
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

/** Answers a {@link Mistake} with an example, as the command line answers mistakes that it finds itself. */
async function explainMistakes<T>(command: Command, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Mistake) command.error(`error: ${error.message}`);
    throw error;
  }
}

/**
 * Who works with the command, for the log of what support did: the name that was typed (`--as`) or set (`ADMIN_AS`), and the
 * user of the operating system. It is not verified: any name may be typed.
 *
 * @throws {Mistake} when `ADMIN_AS` is no name
 */
export function whoWorks(typed: string | undefined, env: NodeJS.ProcessEnv): string {
  const user = userOfSystem(env);
  const named = typed ?? nameIn(env['ADMIN_AS']);
  return named === undefined || named === user ? user : `${named} (${user})`;
}

function nameIn(setting: string | undefined): string | undefined {
  if (setting === undefined || setting === '') return undefined;
  try {
    return text(setting);
  } catch (error) {
    throw new Mistake(`ADMIN_AS is no name. ${(error as Error).message}`);
  }
}

/** Below sudo, who typed it. In a container, users may have no names. */
function userOfSystem(env: NodeJS.ProcessEnv): string {
  if (process.getuid?.() === 0 && env['SUDO_USER']) return env['SUDO_USER'];
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
}
