import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { tryLock, waitForLock } from '../../../db/embedded/file-lock.ts';

const folder = mkdtempSync(path.join(os.tmpdir(), 'file-lock-'));
const file = path.join(folder, 'some.lock');
afterAll(() => rmSync(folder, { recursive: true }));

test('two shared locks in one process → both held, and each keeps an exclusive one out', () => {
  const first = tryLock(file, 'shared');
  const second = tryLock(file, 'shared');
  expect(tryLock(file, 'exclusive')).toBeUndefined();
  first?.release();
  first?.release();
  expect(tryLock(file, 'exclusive')).toBeUndefined();
  second?.release();
  const exclusive = tryLock(file, 'exclusive');
  expect(exclusive).toBeDefined();
  expect(tryLock(file, 'shared')).toBeUndefined();
  exclusive?.release();
});

test('the holder is killed → the lock is free, and nothing but the empty file is left', async () => {
  const module = path.resolve(import.meta.dirname, '../../../db/embedded/file-lock.ts');
  const program = `const { tryLock } = await import(${JSON.stringify(module)});
    tryLock(${JSON.stringify(file)}, 'exclusive'); console.log('held'); process.stdin.resume();`;
  const holder = spawn(process.execPath, ['--input-type=module', '--eval', program]);
  await once(holder.stdout, 'data');
  expect(tryLock(file, 'shared')).toBeUndefined();
  await expect(waitForLock(file, 'exclusive', 50)).rejects.toThrow('was locked by another process');
  const next = waitForLock(file, 'exclusive', 10_000);
  holder.kill('SIGKILL');
  (await next).release();
  expect(readdirSync(folder)).toEqual(['some.lock']);
});
