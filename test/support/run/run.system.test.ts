import { runScript } from '../../scripts/run-script.ts';
import { useFolder } from '../use-folder.ts';

const folder = useFolder();

test('tests that hang, fail or leave a rejection, a file that does not load → each is told, and the next test runs', async () => {
  const jest = ['--import', './test/support/run/worker-data.ts', 'node_modules/jest/bin/jest.js'];
  const files = ['--testMatch', '**/support/run/broken/*.ts', '--maxWorkers=2', '--testTimeout=500'];
  const { code, stderr } = await runScript([...jest, ...files], { TMPDIR: folder });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^hangs\n +Error: Exceeded timeout of 500 ms. Open: .*TCPServerWrap/m);
  expect(stderr).toMatch(/^fails\n[^]*run\/broken\/tests\.ts\?\d+:\d+/m);
  expect(stderr).toMatch(/^leaves a rejection\n +Error: nobody caught this/m);
  expect(stderr).toMatch(/not-loaded\.ts\n[^]*this file does not load/);
  expect(stderr).toContain('Tests:       3 failed, 1 passed, 4 total');
});
