import { segmentsFromUtterances } from '../../../src/captions/segments.ts';
import type { Word } from '../../../src/captions/segment.ts';

/** A word each 200 ms, with a pause before those that begin with `|`, of so many ms. */
function said(text: string, pauseMs = 700, wordMs = 200): Word[] {
  let startMs = 0;
  return text.split(' ').map((word) => {
    if (word.startsWith('|')) startMs += pauseMs;
    const spoken = { startMs, endMs: startMs + wordMs, text: word.replace('|', '') };
    startMs += wordMs;
    return spoken;
  });
}
const captions = (words: Word[]) => segmentsFromUtterances([words], 600_000).map(({ text }) => text);

test.each([
  [
    'a word alone behind a pause → with those before it',
    'we have the old and the new |ones.',
    ['we have the old and the new ones.'],
  ],
  [
    'a word alone before a pause → with those behind it',
    'well |now we have all of them',
    ['well now we have all of them'],
  ],
  [
    'less than a second of words → with the nearer neighbour',
    'this is what we said |to them |then we all went home',
    ['this is what we said to them', 'then we all went home'],
  ],
])('%s', (_, text, expected) => {
  expect(captions(said(text))).toEqual(expected);
});

test('a word alone, far from its neighbours → alone', () => {
  expect(captions(said('this is what we said |yes |then we all went home', 4_000))).toEqual([
    ...['this is what we said', 'yes', 'then we all went home'],
  ]);
});

test('one word more than a caption holds → both captions share the words', () => {
  const [first, second, ...more] = captions(said(Array.from({ length: 21 }, (_, index) => `w${index}`).join(' ')));
  expect(more).toEqual([]);
  for (const caption of [first!, second!]) expect(caption.split(' ').length).toBeGreaterThan(5);
});

test('the last word of a sentence → never alone at the beginning of the next caption', () => {
  for (let length = 10; length < 40; length += 1) {
    const sentence = [...Array.from({ length: length - 1 }, (_, index) => `word${index}`), 'end.'].join(' ');
    const cut = captions(said(`${sentence} Then another sentence follows it at once.`));
    expect(cut.filter((text) => text.startsWith('end.'))).toEqual([]);
  }
});
