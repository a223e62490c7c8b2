import { loggedAddress } from '../../../../src/api/answers/response-log.ts';

test.each([
  ['203.0.113.77', '203.0.113.77', '203.0.113.0/24'],
  ['::ffff:203.0.113.77', '203.0.113.77', '203.0.113.0/24'],
  ['2001:0db8:1:2::7', '2001:0db8:1:2::7', '2001:db8:1::/48'],
  ['::1', '::1', '0:0:0::/48'],
  ['what a client wrote', undefined, undefined],
  [undefined, undefined, undefined],
])('%j → %j, as a prefix %j, and nothing where none is wanted', (address, full, prefix) => {
  expect(loggedAddress(address, 'full')).toBe(full);
  expect(loggedAddress(address, 'prefix')).toBe(prefix);
  expect(loggedAddress(address, 'none')).toBeUndefined();
});
