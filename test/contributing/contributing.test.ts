import { walkThrough } from './walk-throughs.ts';

test('the walk-throughs of CONTRIBUTING.md → each hunk is found once in its file', () => {
  expect(walkThrough().size).toBeGreaterThan(10);
});
