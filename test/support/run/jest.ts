/** Jest's clocks and spies, with the options and the asynchronous steps that jest-light-runner's leave out. */
import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

type Config = ConstructorParameters<typeof ModernFakeTimers>[0]['config'];

const timers = new ModernFakeTimers({ config: { fakeTimers: {} } as Config, global: globalThis });
const mocker = new ModuleMocker(globalThis);

export const jest = {
  useFakeTimers: (options: Parameters<typeof timers.useFakeTimers>[0] = {}) => timers.useFakeTimers(options),
  useRealTimers: () => timers.useRealTimers(),
  advanceTimersByTime: (ms: number) => timers.advanceTimersByTime(ms),
  advanceTimersByTimeAsync: (ms: number) => timers.advanceTimersByTimeAsync(ms),
  runAllTimersAsync: () => timers.runAllTimersAsync(),
  spyOn: mocker.spyOn.bind(mocker),
  restoreAllMocks: () => mocker.restoreAllMocks(),
};
