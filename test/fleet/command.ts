/** The command of a suite that runs a fleet in a world of its own. */
import { parseArgs } from 'node:util';
import { explain, interruption, notRun, requirePrograms, tell } from '../rig/suite.ts';
import { versitygw } from '../rig/versitygw.ts';
import { privateWorld, runInside, whyNoNetwork, worldFolder } from '../rig/world.ts';
import type { Met, World } from './under-load.ts';

/** How often each case, and the seed. Ends the command when somebody asked for help, or typed no number. */
export function readOptions(usage: string): { each: number; seed: string } {
  const { values } = parseArgs({
    options: {
      each: { type: 'string', default: '1' },
      seed: { type: 'string', default: '1' },
      help: { type: 'boolean', default: false },
    },
  });
  const each = Number(values.each);
  explain(usage, values.help, [each]);
  return { each, seed: values.seed };
}

/** Ends the command where something is missing. @returns where versitygw is */
export async function requireFleet(more: Record<string, string> = {}): Promise<string> {
  await requirePrograms({ ip: 'iproute2', haproxy: 'haproxy', ...more });
  const whyNot = await whyNoNetwork();
  return whyNot === undefined ? versitygw() : notRun(whyNot);
}

/**
 * Ends the command with a verdict.
 * @param scenario its module
 * @param describe what came of it
 */
export async function runFleet<Scenario extends World, Result extends Met>(
  scenario: string,
  argument: Omit<Scenario, 'folder'>,
  describe: (met: Result) => string,
): Promise<never> {
  const interrupted = interruption();
  const folder = await worldFolder();
  const inside = { world: privateWorld, scenario, argument: { ...argument, folder }, folder };
  const met = await runInside<Result>(inside, interrupted, (line) => tell(`${seconds()} s: ${line}`)).catch(
    (error: unknown) => {
      tell(interrupted.aborted ? 'Interrupted.' : String(error));
      process.exit(1);
    },
  );
  console.log(`\n${describe(met)}`);
  for (const breach of met.breaches) tell(`BREACH: ${breach}`);
  const isSound = met.breaches.length === 0;
  const verdict = isSound ? 'nothing lost, nothing doubled, nothing leaked' : 'NOT SOUND';
  tell(`${seconds()} s with seed ${argument.seed}: ${verdict}`);
  process.exit(isSound ? 0 : 1);
}

/** Since the command began. */
const seconds = () => Math.round(performance.now() / 1000);
