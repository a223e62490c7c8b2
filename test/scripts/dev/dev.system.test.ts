/** `npm run dev`. Saving a file is not tried here: it would start the service of every other test run again. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectFolder } from '../../architecture/source-files.ts';
import { processesAbout } from '../../rig/processes.ts';
import { until } from '../../support/until.ts';
import { useFolder } from '../../support/use-folder.ts';

const dataDir = useFolder();

test('npm run dev → a log for people and a key that works; SIGINT ends all of it in order', async () => {
  const child = spawn(process.execPath, ['scripts/dev/main.ts'], {
    cwd: projectFolder,
    env: { PORT: '0', OPS_PORT: '0', MIN_FREE_DISK: '0', PATH: process.env['PATH'], DATA_DIR: dataDir },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = once(child, 'close');
  await until(() => output.includes('/sessions\n') || child.exitCode !== null);
  expect(output).toMatch(/^\[\d\d:\d\d:\d\d\] INFO: api answers$/m);

  const url = /The API answers at (\S+),/.exec(output)![1]!;
  const secret = (await readFile(join(dataDir, 'demo-key'), 'utf8')).trim();
  const answer = await fetch(`${url}/sessions`, { headers: { Authorization: `Bearer ${secret}` } });
  expect(answer.status).toBe(200);

  child.kill('SIGINT');
  expect(await ended).toEqual([0, null]);
  expect(output).toContain('INFO: stopped');
  expect(processesAbout(dataDir)).toEqual([]);
});
