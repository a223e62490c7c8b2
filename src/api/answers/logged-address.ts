import { isIP } from 'node:net';
import { plainAddress, prefixOf } from '../access/networks.ts';
import type { Config } from '../../config/config.ts';

/** As much of a client's address as the log may name. Undefined for what a proxy sends in its place. */
export function loggedAddress(address: string | undefined, how: Config['logAddresses']): string | undefined {
  const plain = plainAddress(address ?? '');
  if (how === 'none' || isIP(plain) === 0) return undefined;
  return how === 'full' ? plain : prefixOf(plain);
}
