import { Command } from 'commander';
import { addAccountCommands } from './accounts.ts';
import { answerOn, invocation } from './command.ts';
import { text } from './arguments.ts';
import { addBackupCommands } from './backup.ts';
import { addBalanceCommands } from './balance.ts';
import { addUsageCommand } from './usage.ts';
import { addDatabaseCommands, addStoreCommands } from './database.ts';
import { addDoctorCommand } from './doctor.ts';
import { negativeDurationsLast } from './durations.ts';
import { exitCodeOf, messageOf } from './exit.ts';
import { addKeyCommands } from './keys.ts';
import { addMoveCommand } from './move.ts';
import { addPlanCommands } from './plans.ts';
import { addSessionCommands } from './sessions.ts';
import { addSupportLogCommand } from './support-log.ts';
import { addVerifyCommand } from './verify.ts';
import type { Terminal } from '../terminal/terminal.ts';

const examples = `
Examples:
  ${invocation} accounts create --name "Acme Ltd" --plan pro --balance 10h
  ${invocation} keys issue ACCOUNT --scope read --scope write
  npm run --silent admin -- accounts list --json | jq .

Exit codes: 0 done, 1 refused because of the data, 2 a mistake in what was typed or in the environment.`;

/**
 * The whole command line. A mistake is thrown as a CommanderError.
 *
 * @param onEnd hears the exit code of a command that was answered
 */
export function createProgram(terminal: Terminal, onEnd: (exitCode: number) => void): Command {
  const { env, out, err } = terminal;
  const answer = answerOn(terminal, onEnd);
  const program = new Command(invocation)
    .description('Accounts, balances, API keys, plans and sessions of the transcription service.')
    .option('--json', 'print JSON for programs; errors stay text, on standard error')
    .option('--as <name>', 'who you are, for the log; otherwise $ADMIN_AS or the user of the system', text)
    .configureHelp({ showGlobalOptions: true, helpWidth: 100 })
    .configureOutput({
      writeOut: (text) => void out.write(text),
      writeErr: (text) => void err.write(withoutSecrets(text)),
    })
    .showHelpAfterError(`Type ${invocation} --help to see what there is.`)
    .addHelpText('after', examples)
    .exitOverride();
  addAccountCommands(program, answer);
  addBalanceCommands(program, answer);
  addKeyCommands(program, answer, terminal);
  addPlanCommands(program, answer);
  addSessionCommands(program, answer);
  addUsageCommand(program, answer);
  addSupportLogCommand(program, answer);
  addBackupCommands(program, answer, env);
  addDatabaseCommands(program, answer, env);
  addStoreCommands(program, answer);
  addMoveCommand(program, answer);
  addVerifyCommand(program, answer);
  addDoctorCommand(program, terminal, onEnd);
  return program;
}

/** The answer to a mistake repeats what was typed, which may hold a key or a URL with a password. They are taken out. */
const withoutSecrets = (text: string) =>
  text
    .replace(/(tsk_[0-9A-Za-z]{6})[0-9A-Za-z]{7,}/g, '$1…')
    .replace(/(:\/\/[^\s:/@]*:).*@/g, '$1…@')
    .replace(/(password=)[^\s&']+/gi, '$1…');

/** @returns the exit code */
export async function adminCommand(terminal: Terminal): Promise<number> {
  let exitCode = 0;
  try {
    const program = createProgram(terminal, (code) => (exitCode = code));
    await program.parseAsync(negativeDurationsLast(terminal.argv), { from: 'user' });
    return exitCode;
  } catch (error) {
    const message = messageOf(error);
    if (message !== undefined) terminal.err.write(`${message}\n`);
    return exitCodeOf(error);
  }
}
