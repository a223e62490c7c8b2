/** One of the processes that a master starts (`API_PROCESSES`): `api` or `worker`. Nobody else starts it. */
import { runChild } from './processes/child.ts';

await runChild(process.argv[2] === 'worker' ? 'worker' : 'api');
