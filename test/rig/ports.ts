import { freePort } from '../../scripts/local-service/service-process.ts';

const given = new Set<number>();

/** A free port that stays this one's while whatever uses it is dead: no other part of this process gets it. */
export async function steadyPort(): Promise<number> {
  const port = await freePort('127.0.0.1', 0, 'PORT');
  if (given.has(port)) return steadyPort();
  given.add(port);
  return port;
}
