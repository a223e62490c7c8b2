import { spawnSync } from 'node:child_process';

/**
 * A command that mounts a disk for what comes after it alone, and which goes with that.
 * @param folder there already
 * @param size as mount(8) takes it for tmpfs: `16m`
 */
export const smallDisk = (folder: string, size: string): string[] => [
  ...['unshare', ...(process.getuid!() === 0 ? [] : ['--map-root-user', '--user']), '--mount', 'sh', '-c'],
  `mount -t tmpfs -o size=${size},mode=711 none '${folder}' && exec "$@"`,
  'sh',
];

/** Whether this machine lets tests mount one; to root it always must. */
export function canMountDisks(): boolean {
  const [program, ...args] = smallDisk(process.env.TEST_FOLDER!, '64k');
  const canMount = spawnSync(program!, [...args, 'true']).status === 0;
  if (!canMount) expect(process.getuid!()).not.toBe(0);
  return canMount;
}
