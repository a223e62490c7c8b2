/** `npm run transcribe -- FILE…`: recordings become transcripts. Only transcripts go to stdout; all else goes to stderr. */
import { runCommand } from '../terminal/run-command.ts';
import { transcribeCommand } from './command-line.ts';

await runCommand(transcribeCommand);
