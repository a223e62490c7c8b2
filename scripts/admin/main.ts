/** `npm run admin -- …`: support's command. It works while the service runs and while it doesn't. */
import { runCommand } from '../terminal/run-command.ts';
import { adminCommand } from './program.ts';

await runCommand(adminCommand);
