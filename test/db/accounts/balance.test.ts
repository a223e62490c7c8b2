import { reservationFor } from '../../../db/accounts/accounts.ts';

test.each([
  { has: 'exactly what the audio needs', balance: 60_000, durationMs: 60_000, reserves: 60_000 },
  { has: '1 ms less than the audio needs', balance: 59_999, durationMs: 60_000, reserves: undefined },
  { has: 'more than audio that could not be measured may need', balance: 200_000, durationMs: null, reserves: 100_000 },
  { has: 'less than audio that could not be measured may need', balance: 1, durationMs: null, reserves: 1 },
  { has: 'nothing, for audio that could not be measured', balance: 0, durationMs: null, reserves: undefined },
  { has: 'nothing, for audio of 0 ms', balance: 0, durationMs: 0, reserves: undefined },
  { has: 'less than nothing', balance: -1, durationMs: null, reserves: undefined },
])('an account that has $has → reserves $reserves ms', ({ balance, durationMs, reserves }) => {
  const account = { balance_ms: balance + 5_000, reserved_ms: 5_000, max_audio_ms: 100_000 };
  expect(reservationFor(account, durationMs)).toBe(reserves);
});
