/**
 * Outlives the test run, and clears up after it when it was interrupted. The other end of its standard input is held by
 * jest's main process alone, so the input ends when that process does, whatever ended it.
 */
import { text } from 'node:stream/consumers';
import { removeRemains } from './remains.ts';

const [, , folder] = process.argv;
const said = await text(process.stdin);
// A run that comes to its end clears up itself, so that whatever a test leaves behind is seen.
if (said !== 'finished') await removeRemains(folder!);
