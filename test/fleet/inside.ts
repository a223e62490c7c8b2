/** The first program of a private world: runs one fleet there, as its argument says, and writes what came of it as JSON. */
import { appendFileSync } from 'node:fs';
import { run } from './scenario.ts';
import type { Scenario } from './scenario.ts';

// Held by whoever started this. When he is gone, nobody needs the fleet: the whole world ends with this process.
process.stdin.on('end', () => process.exit(1)).resume();

const scenario = JSON.parse(process.argv[2]!) as Scenario;
const result = await run(scenario, (line) => process.stderr.write(`${line}\n`));
appendFileSync(1, `${JSON.stringify(result)}\n`);
process.exit(0);
