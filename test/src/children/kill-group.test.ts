import { once } from 'node:events';
import { killGroup, spawnGroup } from '../../../src/children/child.ts';
import { jest } from '../../support/run/jest.ts';

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
