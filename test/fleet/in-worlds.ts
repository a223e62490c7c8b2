/** Scenarios of fleets, each in a world of its own, at the same time. */
import { privateWorld, runInside, whyNoNetwork, worldFolder } from '../rig/world.ts';
import { buildVersitygw } from '../rig/versitygw.ts';
import { interruption, notRun, requirePrograms, tell } from '../rig/suite.ts';
import type { Met, World } from './under-load.ts';

/** Ends the command where something is missing. @returns where versitygw is */
export async function requireFleet(more: Record<string, string> = {}): Promise<string> {
  await requirePrograms({ ip: 'iproute2', haproxy: 'haproxy', ...more });
  const whyNot = await whyNoNetwork();
  if (whyNot !== undefined) notRun(whyNot);
  const built = await buildVersitygw();
  return 'whyNot' in built ? notRun(built.whyNot) : built.program;
}

export interface Outcome<Result> {
  results: Result[];
  breaches: string[];
}

/**
 * @param scenario its module
 * @param worlds what each of them is told besides its folder
 */
export async function runInWorlds<Scenario extends World, Result extends Met>(
  scenario: string,
  worlds: readonly Omit<Scenario, 'folder'>[],
): Promise<Outcome<Result>> {
  const interrupted = interruption();
  const runs = await Promise.allSettled(
    worlds.map(async (world, index) => {
      const folder = await worldFolder();
      const say = (line: string) => tell(`${seconds()} s, fleet ${index + 1}: ${line}`);
      const inside = { world: privateWorld, scenario, argument: { ...world, folder }, folder };
      return runInside<Result>(inside, interrupted, say);
    }),
  );
  if (interrupted.aborted) {
    tell('Interrupted.');
    process.exit(1);
  }
  const results = runs.flatMap((run): Result[] => (run.status === 'fulfilled' ? [run.value] : []));
  const failures = runs.flatMap((run) => (run.status === 'rejected' ? [String(run.reason)] : []));
  return { results, breaches: [...failures, ...results.flatMap(({ breaches }) => breaches)] };
}

/** Ends the command with a verdict. */
export function endWith(breaches: readonly string[], seed: string): never {
  for (const breach of breaches) tell(`BREACH: ${breach}`);
  const verdict = breaches.length === 0 ? 'nothing lost, nothing doubled, nothing leaked' : 'NOT SOUND';
  tell(`${seconds()} s with seed ${seed}: ${verdict}`);
  process.exit(breaches.length === 0 ? 0 : 1);
}

/** Since the command began. */
const seconds = () => Math.round(performance.now() / 1000);
