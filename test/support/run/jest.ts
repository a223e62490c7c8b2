/** Jest's clocks and spies, as `@jest/globals` has them in jest's own runner. */
import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';
import type { Config } from '@jest/types';

const timers = new ModernFakeTimers({ config: { fakeTimers: {} } as Config.ProjectConfig, global: globalThis });
const mocker = new ModuleMocker(globalThis);

export const jest = {
  useFakeTimers: (options: Config.FakeTimersConfig = {}) => timers.useFakeTimers(options),
  useRealTimers: () => timers.useRealTimers(),
  advanceTimersByTime: (ms: number) => timers.advanceTimersByTime(ms),
  advanceTimersByTimeAsync: (ms: number) => timers.advanceTimersByTimeAsync(ms),
  runAllTimersAsync: () => timers.runAllTimersAsync(),
  spyOn: mocker.spyOn.bind(mocker),
  restoreAllMocks: () => mocker.restoreAllMocks(),
};
