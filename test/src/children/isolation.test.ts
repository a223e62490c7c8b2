import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runChild } from '../../../src/children/child.ts';
import { findIsolation } from '../../../src/children/bounded-command.ts';
import { useFolder } from '../../support/use-folder.ts';
import type { AddressInfo } from 'node:net';
import type { Isolation } from '../../../src/children/bounded-command.ts';

const execute = promisify(execFile);
const limits = { memoryBytes: 1024 ** 3, cpuSeconds: 10, fileBytes: 1_000_000, openFiles: 64 };
const isRoot = process.getuid?.() === 0;

const folder = useFolder();
let allowed: Record<Isolation, boolean>;
beforeAll(async () => {
  const works = (...args: string[]) =>
    execute('unshare', [...args, 'true']).then(
      () => true,
      () => false,
    );
  allowed = {
    'user and network namespace': await works('--user', '--map-root-user', '--net'),
    'network namespace': await works('--net'),
    none: true,
  };
});

async function outputOf(isolation: Isolation, program: string, ...args: string[]): Promise<string> {
  let stdout = '';
  const onStdout = (chunk: Buffer): void => void (stdout += chunk.toString());
  const end = await runChild(program, args, { limits, timeLimitMs: 20_000, onStdout, isolation });
  return stdout + end.stderr;
}

const best = (): Isolation =>
  (['user and network namespace', 'network namespace', 'none'] as const).find((isolation) => allowed[isolation])!;

test('the best that this machine allows → found', async () => {
  expect(await findIsolation()).toBe(best());
});

test.each(['user and network namespace', 'network namespace', 'none'] as const)(
  '%s, where it is allowed → works on the files of the service, without network unless it is none',
  async (isolation) => {
    if (!allowed[isolation]) {
      await expect(outputOf(isolation, 'true')).rejects.toThrow(/^true could not be isolated: unshare: /);
      return;
    }
    const secret = join(folder, 'private');
    await mkdir(secret, { recursive: true, mode: 0o700 });
    await writeFile(join(secret, 'in'), 'words', { mode: 0o600 });
    await writeFile(join(secret, 'out'), '', { mode: 0o600 });
    expect(await outputOf(isolation, 'cp', join(secret, 'in'), join(secret, 'out'))).toBe('');
    expect(await readFile(join(secret, 'out'), 'utf8')).toBe('words');
    const { mode, uid } = await stat(join(secret, 'out'));
    expect([mode & 0o777, uid]).toEqual([0o600, process.getuid?.()]);

    const status = await outputOf(isolation, 'cat', '/proc/self/status');
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
    if (isolation === 'user and network namespace') expect(status).toMatch(/^CapEff:\t0+$/m);

    const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const connecting = await outputOf(isolation, 'bash', '-c', `exec 3<>/dev/tcp/127.0.0.1/${port} && echo connected`);
    server.close();
    expect(connecting).toMatch(isolation === 'none' ? /^connected$/m : /unreachable/);
    const interfaces = await outputOf(isolation, 'cat', '/proc/self/net/dev');
    if (isolation !== 'none') expect(interfaces.match(/\w+(?=:)/g)).toEqual(['lo']);
  },
);

const module = (name: string): string => JSON.stringify(join(import.meta.dirname, '../../../src/children', name));
const says = `import { runChild } from ${module('child.ts')}; import { findIsolation } from ${module('bounded-command.ts')};
  const isolation = await findIsolation(process.argv[1]);
  const limits = ${JSON.stringify(limits)};
  const run = (asked) => runChild('true', [], { limits, timeLimitMs: 20000, ...asked }).then(
    ({ how, code }) => how + ' ' + code, ({ name }) => name);
  const asked = { isolation: 'user and network namespace' };
  console.log(isolation + ', ' + await run() + ', asked for more: ' + await run(asked));`;
const node = (reach: string): string[] => [process.execPath, '--no-warnings', '--input-type=module', '-e', says, reach];

// Limits on namespaces are those of the user namespace that a process is in, so each run gets one of its own.
test.each([
  ['user namespaces', ['user'], 'network namespace, exited 0, asked for more: ChildNotStarted'],
  ['any namespace', ['user', 'net'], 'none, exited 0, asked for more: ChildNotStarted'],
])(
  'a machine that refuses %s → the next best, children run all the same, and more than that is an error',
  async (_, kinds, outcome) => {
    const forbid = kinds.map((kind) => `echo 0 >/proc/sys/user/max_${kind}_namespaces;`).join(' ');
    const command = ['sh', '-c', `${forbid} exec "$@"`, 'sh', ...node('/')];
    // Where no namespace can be made at all, the machine itself is the test.
    const isAllowed = allowed['user and network namespace'];
    const [program, ...args] = isAllowed ? ['unshare', '--user', '--map-root-user', ...command] : node('/');
    const { stdout } = await execute(program!, args);
    expect(stdout.trim()).toBe(isAllowed ? outcome : `${best()}, exited 0, asked for more: ChildNotStarted`);
  },
);

test('data below a folder that only root may enter → no user namespace, since it would lock the children out', async () => {
  const reach = join(folder, 'of-another-user', 'data');
  await mkdir(reach, { recursive: true });
  if (isRoot) await chown(join(folder, 'of-another-user'), 65_534, 65_534);
  await chmod(join(folder, 'of-another-user'), 0o700);
  const [program, ...args] = node(reach);
  const { stdout } = await execute(program!, args);
  const reachable = isRoot ? (allowed['network namespace'] ? 'network namespace' : 'none') : best();
  expect(stdout.trim()).toMatch(new RegExp(`^${reachable}, exited 0,`));
});
