import { isOnlyMarkers } from '../../../src/recognizers/markers.ts';

test.each([
  ['[BLANK_AUDIO]', true],
  [' [Music] (crickets chirping)', true],
  ['♪♪', true],
  ['*sighs* …', true],
  ['（音楽）', true],
  ['(laughs) Yes.', false],
  ['♪ Happy birthday to you ♪', false],
  ['[', true],
  ['3', false],
  ['谢谢', false],
])('%s is or is not only about sounds', (text, expected) => {
  expect(isOnlyMarkers(text)).toBe(expected);
});
