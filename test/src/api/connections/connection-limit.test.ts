import { createServer } from 'node:http';
import { jest } from '../../../support/run/jest.ts';
import { limitConnections } from '../../../../src/api/connections/limits.ts';
import { useService } from '../../../support/service/use-service.ts';

const service = await useService();
afterEach(() => void jest.useRealTimers());

test('connections refused by the thousand → idle ones are looked for every 100 ms, each refusal counts', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'setTimeout'] });
  const server = createServer();
  const closeIdle = jest.spyOn(server, 'closeIdleConnections');
  limitConnections(server, service.log, service.metrics);
  for (let dropped = 0; dropped < 1_000; dropped += 1) server.emit('drop');
  expect(closeIdle).toHaveBeenCalledTimes(1);
  jest.advanceTimersByTime(100);
  for (let dropped = 0; dropped < 1_000; dropped += 1) server.emit('drop');
  expect(closeIdle).toHaveBeenCalledTimes(2);
  expect((await service.metrics.refusedConnections.get()).values).toMatchObject([{ value: 2_000 }]);
});
