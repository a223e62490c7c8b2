import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { ExecutableNotFound } from '../../../src/children/bounded-command.ts';
import { startLastingChild } from '../../../src/children/lasting-child.ts';
import { killGroup, spawnGroup } from '../../../src/children/child.ts';
import { jest } from '../../support/run/jest.ts';
import { atEnd } from '../../support/at-end.ts';
import { until } from '../../support/until.ts';

const limits = { memoryBytes: 1024 ** 3, cpuSeconds: 'unlimited', fileBytes: 0, openFiles: 64 } as const;

async function start(program: string, args: string[], onStdout: (chunk: Buffer) => void = () => {}) {
  const child = await startLastingChild(program, args, { name: 'parrot', limits, onStdout });
  atEnd(() => child.kill());
  return child;
}

test('whatever is asked → answered by the same process, with an empty environment', async () => {
  let heard = '';
  const child = await start('sh', ['-c', 'env; exec cat'], (chunk) => (heard += chunk.toString()));
  child.write('one\n');
  await until(() => heard.includes('one\n'));
  child.write('two\n');
  await until(() => heard.includes('two\n'));
  expect(heard.replace(/^(PWD|OLDPWD|SHLVL|_)=.*\n/gm, '')).toBe('one\ntwo\n');
  expect(child.isAlive()).toBe(true);
});

test('killed → gone with its descendants, and says so', async () => {
  let pid = '';
  const child = await start('sh', ['-c', 'sleep 1000 & echo $!; wait'], (chunk) => (pid += chunk.toString()));
  await until(() => pid.endsWith('\n'));
  await child.kill();
  expect(child.isAlive()).toBe(false);
  expect((await child.ended).message).toBe('parrot was killed by SIGKILL: out of memory?');
  await until(async () => (await readFile(`/proc/${pid.trim()}/stat`, 'utf8').catch(() => ') Z')).includes(') Z'));
  // Nobody hears it any more.
  child.write('one\n');
});

test('ends by itself → the reason has its exit code and the end of its standard error', async () => {
  const child = await start('sh', ['-c', 'echo no such model >&2; exit 3']);
  expect((await child.ended).message).toBe('parrot ended with exit code 3: no such model');
  expect(child.isAlive()).toBe(false);
});

test('output that its reader refuses → killed, and the reason is what the reader threw', async () => {
  const child = await start('sh', ['-c', 'echo hello; exec cat'], () => {
    throw new Error('a line of output is too long');
  });
  expect((await child.ended).message).toBe('parrot: a line of output is too long');
});

test('a program that is not installed → ExecutableNotFound', async () => {
  await expect(start('no-such-program', [])).rejects.toThrow(ExecutableNotFound);
});
test('a child that is over → nobody is killed: its id may belong to another process by now', async () => {
  const child = spawnGroup(['/bin/true'], 'ignore');
  await once(child, 'close');
  const kill = jest.spyOn(process, 'kill');
  killGroup(child);
  expect(kill).not.toHaveBeenCalled();
  kill.mockRestore();
});

test.each(['ESRCH', 'EPERM'])('a kill that is refused with %s → no fault of ours', async (code) => {
  const child = spawnGroup(['/bin/sleep', '1000'], 'ignore');
  const kill = jest.spyOn(process, 'kill').mockImplementationOnce(() => {
    throw Object.assign(new Error(code), { code });
  });
  expect(() => killGroup(child)).not.toThrow();
  kill.mockRestore();
  child.kill('SIGKILL');
  await once(child, 'close');
});
