/**
 * Namespaces of a run's own: network, mounts, processes and shared memory. All that is in them goes with the first process
 * in them, whatever ended it, and this machine's own network is never touched.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** To be put in front of a command. A shell is the first process there, because somebody has to bury orphans. */
export const privateWorld = [
  ...['unshare', '--net', '--mount', '--pid', '--ipc', '--fork', '--kill-child', '--mount-proc', '--'],
  ...['sh', '-c', 'mount -t tmpfs none /run && "$@"; exit $?', 'sh'],
];

/** Programs, and the Debian packages that bring them. */
const programs = [
  ['ip', 'iproute2'],
  ['haproxy', 'haproxy'],
] as const;

const trial = `ip netns add machine && ip link add switch type bridge &&
  ip link add cable type veth peer name eth0 netns machine && ip link set cable master switch`;

/** Why no fleet can be run here; undefined when one can. */
export async function whyNoFleet(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'network namespaces with a bridge need root';
  for (const [program, debianPackage] of programs) {
    const isThere = await execute('sh', ['-c', `command -v ${program}`]).then(() => true, () => false); // prettier-ignore
    if (!isThere) return `${program} is not installed (Debian's package ${debianPackage})`;
  }
  const [unshare, ...args] = [...privateWorld, 'sh', '-c', trial];
  return execute(unshare!, args).then(
    () => undefined,
    ({ stderr }: { stderr: string }) => `this machine lets nobody build networks: ${stderr.trim()}`,
  );
}
