/** Runs a scenario in a process of its own, below namespaces of its own, and removes its folder when all of it has ended. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/**
 * Network, mounts, processes and shared memory of its own, to be put in front of a command. All that is in them goes with
 * the first process in them, whatever ended it, and this machine's own network is never touched. A shell is that process,
 * because somebody has to bury orphans.
 */
export const privateWorld = [
  ...['unshare', '--net', '--mount', '--pid', '--ipc', '--fork', '--kill-child', '--mount-proc', '--'],
  ...['sh', '-c', 'mount -t tmpfs none /run && "$@"; exit $?', 'sh'],
];

const trial = `ip netns add machine && ip link add switch type bridge &&
  ip link add cable type veth peer name eth0 netns machine && ip link set cable master switch`;

/** Why no network can be built here; undefined when one can. */
export async function whyNoNetwork(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'network namespaces with a bridge need root';
  const [unshare, ...args] = [...privateWorld, 'sh', '-c', trial];
  return execute(unshare!, args).then(
    () => undefined,
    ({ stderr }: { stderr: string }) => `this machine lets nobody build networks: ${stderr.trim()}`,
  );
}

/** Also when the process that waits for it is killed: then the scenario hears nothing any more, and ends. */
const thenRemove = ['sh', '-c', 'folder=$1; shift; "$@"; code=$?; rm -rf -- "$folder"; exit $code', 'sh'];

/** What a scenario's module exports. `interrupted` aborts when nobody needs it any more. */
export type Run<Argument, Result> = (
  argument: Argument,
  tell: (line: string) => void,
  interrupted: AbortSignal,
) => Promise<Result>;

export interface Inside {
  /** What to put in front of the command; the folder is there already. */
  world: string[];
  /** The scenario's module. */
  scenario: string;
  argument: object;
  /** With everything of it. */
  folder: string;
}

/** @throws when it came to no end */
export async function runInside<Result>(inside: Inside, interrupted: AbortSignal, tell: (line: string) => void) {
  const { world, scenario, argument, folder } = inside;
  const main = [process.execPath, join(import.meta.dirname, 'inside.ts'), scenario, JSON.stringify(argument)];
  const [program, ...args] = [...thenRemove, folder, ...world, ...main];
  // Not in the group of this process: ^C is for this one alone, which ends the others in their order.
  const child = spawn(program!, args, { detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  const end = () => child.stdin.end();
  if (interrupted.aborted) end();
  interrupted.addEventListener('abort', end);
  const last: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    last.push(line);
    tell(line);
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  if (code !== 0) throw new Error(`${scenario} ended with ${code}: ${last.slice(-20).join('\n')}`);
  return JSON.parse(output) as Result;
}

/** A folder that another user may pass through: as root, PostgreSQL runs as one. */
export async function worldFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'transcription-rig-'));
  await chmod(folder, 0o711);
  return folder;
}
