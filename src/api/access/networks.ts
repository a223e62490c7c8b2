import { isIPv4, isIPv6 } from 'node:net';

/** An IPv4 address as such, also where the service listens on IPv6 and hears of it as `::ffff:192.0.2.1`. */
export const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');

/** Who holds an IPv6 address usually holds its whole /64. */
export function networkOf(address: string): string {
  return isIPv6(address) && !address.includes('.') ? groupsOf(address).slice(0, 4).join(':') : address;
}

/** The 256 addresses of IPv4, or the site of IPv6 (/48), that it is of. Undefined for what is no address. */
export function prefixOf(address: string): string | undefined {
  if (isIPv4(address)) return address.replace(/\d+$/, '0/24');
  return isIPv6(address) ? `${groupsOf(address).slice(0, 3).join(':')}::/48` : undefined;
}

/** As numbers, since a proxy may write the same group with leading zeros. */
function groupsOf(address: string): string[] {
  const [head = '', tail = ''] = address.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === '' ? [] : tail.split(':');
  const zeros = Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0');
  return [...left, ...zeros, ...right].map((group) => Number.parseInt(group, 16).toString(16));
}
