import { toMicroseconds } from '../../../../src/api/reads/time.ts';

test.each([
  ['2026-11-20T09:30:00Z', '2026-11-20T09:30:00.000000Z'],
  ['2026-11-20T09:30:00+05:30', '2026-11-20T04:00:00.000000Z'],
  ['2026-11-20T09:30:00.0000001Z', '2026-11-20T09:30:00.000001Z'],
  ['2026-11-20T09:30:00.9999991Z', '2026-11-20T09:30:01.000000Z'],
  ['2026-12-31T23:59:59.9999999Z', '2027-01-01T00:00:00.000000Z'],
  ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000000Z'],
  ['2017-01-01T01:29:60+01:30', '2017-01-01T00:00:00.000000Z'],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000000Z'],
  ['0001-01-01T00:00:00+00:01', '-infinity'],
  ['9999-12-31T23:59:59.9999999Z', 'infinity'],
])('%s → %s', (text, expected) => expect(toMicroseconds(text)).toBe(expected));

test.each(['', '2026-11-20', '2026-11-20T09:30:00', '2026-13-01T00:00:00Z', '-2026-11-20T09:30:00Z', 'infinity'])(
  '%j → no time',
  (text) => expect(toMicroseconds(text)).toBeUndefined(),
);

test('every seventh microsecond of a second → itself', () => {
  for (let micros = 0; micros < 1_000_000; micros += 7) {
    const time = `2026-11-20T09:30:00.${String(micros).padStart(6, '0')}Z`;
    if (toMicroseconds(time) !== time) throw new Error(`${time} → ${toMicroseconds(time)}`);
  }
});
