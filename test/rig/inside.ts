/** The first program of a world: runs the scenario of a module there, and writes what came of it as JSON. */
import { appendFileSync } from 'node:fs';
import { killAllMachines } from './machine.ts';
import type { Run } from './world.ts';

process.on('exit', killAllMachines);
// Held by whoever started this. When he is gone, nobody needs the scenario.
const interrupted = new AbortController();
process.stdin.on('end', () => interrupted.abort()).resume();

const [, , scenario, argument] = process.argv;
const { run } = (await import(scenario!)) as { run: Run<unknown, unknown> };
const result = await run(JSON.parse(argument!), (line) => process.stderr.write(`${line}\n`), interrupted.signal);
appendFileSync(1, `${JSON.stringify(result)}\n`);
process.exit(0);
