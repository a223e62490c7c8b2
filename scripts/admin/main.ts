/** `npm run admin -- …`: support's command. It works while the service runs and while it doesn't. */
import { runCommand } from '../terminal/run-command.ts';
import { adminCommand } from './command-line.ts';

await runCommand(adminCommand);
