import { execFile, spawn } from 'node:child_process';
import { chmod, cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { boundedCommand, ExecutableNotFound } from '../../../src/children/bounded-command.ts';
import { runChild } from '../../../src/children/child.ts';
import type { ChildOptions } from '../../../src/children/child.ts';
import { livingProcesses } from '../../rig/processes.ts';
import { until } from '../../support/until.ts';
import { useFolder } from '../../support/use-folder.ts';

const execute = promisify(execFile);
const limits = { memoryBytes: 1024 ** 3, cpuSeconds: 10, fileBytes: 1_000_000, openFiles: 64 };
const bounds: ChildOptions = { limits, timeLimitMs: 20_000 };

const folder = useFolder();
const isRunning = (pid: number) => livingProcesses().some((process) => process.pid === pid);

async function outputOf(program: string, args: string[], options: Partial<ChildOptions> = {}): Promise<string> {
  let stdout = '';
  const onStdout = (chunk: Buffer): void => void (stdout += chunk.toString());
  await runChild(program, args, { ...bounds, onStdout, ...options });
  return stdout;
}

test('a child that ends → its exit code and the end of its standard error', async () => {
  const script = 'head -c 10000 /dev/zero | tr "\\0" x >&2; echo the end >&2; exit 3';
  const end = await runChild('sh', ['-c', script], bounds);
  expect(end).toMatchObject({ how: 'exited', code: 3 });
  expect(end.stderr).toHaveLength(4096);
  expect(end.stderr).toMatch(/the end\n$/);
});

test('a child → empty environment and input, the asked limits, no shell', async () => {
  expect(await outputOf('env', [])).toBe('');
  expect(await outputOf('cat', [])).toBe('');
  expect(await outputOf('echo', ['$HOME; id'])).toBe('$HOME; id\n');
  const table = await outputOf('cat', ['/proc/self/limits']);
  expect(table).toMatch(/Max address space +1073741824 +1073741824/);
  expect(table).toMatch(/Max cpu time +10 +15/);
  expect(table).toMatch(/Max file size +1000000 +1000000/);
  expect(table).toMatch(/Max core file size +0 +0/);
  expect(table).toMatch(/Max open files +64 +64/);
});

test('whoever starts it has died before its death became a signal → the program is not started', async () => {
  const command = await boundedCommand('echo', ['started'], limits);
  expect((await execute(command[0], command.slice(1))).stdout).toBe('started\n');
  // Another process stands in between, as the one does that adopts orphans.
  expect((await execute('sh', ['-c', '"$@"; true', 'sh', ...command])).stdout).toBe('');
});

test('a program that is not installed → ExecutableNotFound which says what to type', async () => {
  await expect(runChild('no-such-program', [], bounds)).rejects.toThrow(ExecutableNotFound);
  await expect(runChild('no-such-program', [], bounds)).rejects.toThrow('apt-get install no-such-program');
});

test('a child that spins → killed by SIGXCPU; five seconds later the kernel would kill one that ignores that', async () => {
  const oneSecond = { ...bounds, limits: { ...limits, cpuSeconds: 1 } };
  const busy = await runChild('sh', ['-c', 'while :; do :; done'], oneSecond);
  expect(busy).toMatchObject({ how: 'killed', by: 'SIGXCPU' });
});

test('a child that writes a file without end → killed by SIGXFSZ, the file as large as allowed', async () => {
  const large = await runChild('dd', ['if=/dev/zero', `of=${join(folder, 'large')}`, 'bs=64k'], bounds);
  expect(large).toMatchObject({ how: 'killed', by: 'SIGXFSZ' });
  expect((await readFile(join(folder, 'large'))).length).toBe(1_000_000);
});

test('a child that allocates without end, or too much at once → its allocation fails', async () => {
  const exhausted = { how: 'exited', code: 1, stderr: expect.stringContaining('memory exhausted') };
  expect(await runChild('tail', ['/dev/zero'], bounds)).toMatchObject(exhausted);
  expect(await runChild('dd', ['if=/dev/zero', 'of=/dev/null', 'bs=2G', 'count=1'], bounds)).toMatchObject(exhausted);
});

test('a child that hangs → timed out, it and its descendants gone', async () => {
  let pids: number[] = [];
  const end = await runChild('sh', ['-c', 'sleep 1000 & echo $$ $!; wait'], {
    ...bounds,
    timeLimitMs: 500,
    onStdout: (chunk) => void (pids = chunk.toString().split(' ').map(Number)),
  });
  expect(end.how).toBe('timed_out');
  expect(pids).toHaveLength(2);
  // The kernel closes the files of a killed process a moment before it counts as ended.
  for (const pid of pids) await until(() => !isRunning(pid));
});

test('an abort → rejects with its reason, the child gone; already aborted → nothing is started', async () => {
  const controller = new AbortController();
  const reason = new Error('stop it');
  let pid = 0;
  const running = runChild('sh', ['-c', 'echo $$; exec sleep 1000'], {
    ...bounds,
    signal: controller.signal,
    onStdout: (chunk) => {
      pid = Number(chunk.toString());
      controller.abort(reason);
    },
  });
  await expect(running).rejects.toBe(reason);
  await until(() => !isRunning(pid));
  const marker = join(folder, 'started');
  await expect(runChild('touch', [marker], { ...bounds, signal: controller.signal })).rejects.toBe(reason);
  await expect(readFile(marker)).rejects.toThrow('ENOENT');
});

test('a consumer that takes its time → the child is over when all of it is taken, in order', async () => {
  const taken: string[] = [];
  const end = await runChild('sh', ['-c', 'echo one; seq 100000'], {
    ...bounds,
    async onStdout(chunk) {
      await new Promise((resolve) => setImmediate(resolve));
      taken.push(chunk.toString());
    },
  });
  expect(end).toMatchObject({ how: 'exited', code: 0 });
  const numbers = Array.from({ length: 100_000 }, (_, index) => index + 1);
  expect(taken.join('')).toBe(`one\n${numbers.join('\n')}\n`);
});

const fail = (): never => {
  throw new Error('disk full');
};
test.each<[string, () => void | Promise<void>]>([
  ['at once', fail],
  ['later', () => new Promise<void>((resolve) => setImmediate(resolve)).then(fail)],
])('a consumer that fails %s → its error, the child gone', async (_, consume) => {
  let pid = 0;
  const running = runChild('sh', ['-c', 'echo $$; exec sleep 1000'], {
    ...bounds,
    onStdout: (chunk) => {
      pid = Number(chunk.toString());
      return consume();
    },
  });
  await expect(running).rejects.toThrow('disk full');
  await until(() => !isRunning(pid));
});

const users = process.getuid?.() === 0 ? [undefined, 65_534] : [undefined];
const deaths = users.flatMap((uid) => [{ uid }, { uid, isolation: 'none' }]);

test.each(deaths)('the service is killed with SIGKILL (%j) → the child dies with it', async ({ uid, ...options }) => {
  // A copy below the temporary folder: another user need not be able to enter the clone.
  await chmod(folder, 0o755);
  const source = join(import.meta.dirname, '../../../src');
  await cp(join(source, 'children'), join(folder, 'children'), { recursive: true });
  await cp(join(source, 'ops/dependency-error.ts'), join(folder, 'ops/dependency-error.ts'));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  const main = join(folder, 'main.ts');
  await writeFile(
    main,
    `import { runChild } from './children/child.ts';
     await runChild('sh', ['-c', 'echo $$; exec sleep 1000'], { ...${JSON.stringify({ limits, timeLimitMs: 60_000, ...options })},
       onStdout: (chunk) => process.stdout.write(chunk) });`,
  );
  const node = join(folder, 'node');
  await rm(node, { force: true });
  await writeFile(node, await readFile(process.execPath));
  await chmod(node, 0o755);
  const service = spawn(node, ['--no-warnings', main], {
    stdio: ['ignore', 'pipe', 'inherit'],
    ...(uid !== undefined && { uid, gid: uid }),
  });
  const pid = await new Promise<number>((resolve, reject) => {
    service.stdout.once('data', (chunk) => resolve(Number(chunk)));
    service.once('close', () => reject(new Error('the service ended before its child began')));
  });
  expect(isRunning(pid)).toBe(true);
  // The orphan holds no pipe of ours but the service's: 'close' comes once both are gone.
  service.kill('SIGKILL');
  await new Promise((resolve) => service.once('close', resolve));
  await until(() => !isRunning(pid));
});
