/** The three ways in which a primary is replaced. */
import { until } from '../support/until.ts';
import type { DatabaseNode } from './database-node.ts';

export const ways = ['planned switch-over', 'primary killed', 'primary cut off'] as const;
export type Way = (typeof ways)[number];

const replacedWithinMs = 120_000;

/** The one that says so, among those that answer. */
export async function primaryOf(nodes: readonly DatabaseNode[]): Promise<DatabaseNode | undefined> {
  const roles = await Promise.all(nodes.map((node) => node.role()));
  return nodes.find((_, index) => isPrimary(roles[index]));
}

const isPrimary = (role: string | undefined) => role === 'master' || role === 'primary';

/** @returns the old primary, when another one has its place */
export async function replacePrimary(nodes: readonly DatabaseNode[], way: Way): Promise<DatabaseNode> {
  const old = (await until(() => primaryOf(nodes)))!;
  if (way === 'planned switch-over') await switchOver(old);
  else if (way === 'primary killed') await old.machine.kill();
  else await old.machine.place.cut();
  const others = nodes.filter((node) => node !== old);
  await until(() => primaryOf(others), Boolean, replacedWithinMs);
  return old;
}

/** As `patronictl switchover` does. */
async function switchOver({ machine }: DatabaseNode): Promise<void> {
  const answer = await fetch(`http://${machine.place.address}:8008/switchover`, {
    method: 'POST',
    body: JSON.stringify({ leader: machine.name }),
  });
  if (!answer.ok) throw new Error(`Patroni refused the switch-over: ${await answer.text()}`);
}

/** The old primary comes back as a standby. */
export async function bringBack({ machine }: DatabaseNode, way: Way): Promise<void> {
  if (way === 'primary killed') await machine.begin();
  if (way === 'primary cut off') await machine.place.mend();
}
