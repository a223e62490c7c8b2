import { digestOf, displayOf, isWellFormedApiKey, newApiKey } from '../../../../src/api/access/api-key.ts';

test('new keys → 42 characters, all different, well-formed', () => {
  const keys = Array.from({ length: 2_000 }, newApiKey);
  expect(new Set(keys).size).toBe(keys.length);
  for (const key of keys) {
    expect(key).toMatch(/^tsk_[0-9A-Za-z]{38}$/);
    expect(isWellFormedApiKey(key)).toBe(true);
  }
  // All 62 characters come up in 2,000 · 32 of them.
  expect(new Set(keys.join('').replaceAll('tsk_', '')).size).toBe(62);
});

test('a key with any one character changed, swapped, left out or added → not well-formed', () => {
  const key = newApiKey();
  for (let i = 0; i < key.length; i += 1) {
    const other = key[i] === 'x' ? 'y' : 'x';
    expect(isWellFormedApiKey(`${key.slice(0, i)}${other}${key.slice(i + 1)}`)).toBe(false);
    expect(isWellFormedApiKey(`${key.slice(0, i)}${key.slice(i + 1)}`)).toBe(false);
    expect(isWellFormedApiKey(`${key.slice(0, i)}x${key.slice(i)}`)).toBe(false);
    const [a = '', b = ''] = key.slice(i, i + 2);
    if (a !== b && b !== '') expect(isWellFormedApiKey(`${key.slice(0, i)}${b}${a}${key.slice(i + 2)}`)).toBe(false);
  }
  expect(isWellFormedApiKey(`${key}\n`)).toBe(false);
  expect(isWellFormedApiKey('')).toBe(false);
});

test('what is stored and shown of a key → does not give it back', () => {
  const key = newApiKey();
  expect(digestOf(key)).toHaveLength(32);
  expect(digestOf(key)).toEqual(digestOf(key));
  expect(digestOf(newApiKey())).not.toEqual(digestOf(key));
  expect(displayOf(key)).toEqual({ prefix: key.slice(0, 10), last_four: key.slice(-4) });
});
