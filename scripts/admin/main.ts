/** `npm run admin -- …`: support's command. It works while the service runs and while it doesn't. */
import { CommanderError } from 'commander';
import { negativeDurationsLast } from './durations.ts';
import { createProgram } from './program.ts';
import { exitCodeOf, messageOf } from './exit.ts';

// Whoever reads the output may stop reading (`| head`).
process.stdout.on('error', () => process.exit());

try {
  const program = createProgram((text) => process.stderr.write(text));
  await program.parseAsync(negativeDurationsLast(process.argv.slice(2)), { from: 'user' });
} catch (error) {
  if (!(error instanceof CommanderError)) process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = exitCodeOf(error);
}
