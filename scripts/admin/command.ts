/** How every command is declared. */
import type { Command } from 'commander';

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
