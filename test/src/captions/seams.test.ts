import { withoutSeams } from '../../../src/captions/segments.ts';

/** Where the speaker goes on into the next chunk, there is a `/`; where not, a `|`. */
const joined = (text: string) => {
  const parts = text.split(/ ([/|]) /);
  const chunks = parts.filter((_, index) => index % 2 === 0);
  return withoutSeams(chunks, chunks.map((_chunk, index) => parts[2 * index + 1] === '/')).join(' / '); // prettier-ignore
};

test.each([
  ['a full stop before a small letter', 'take no account of. / where we are', 'take no account of / where we are'],
  ['the same behind a pause', 'take no account of. | where we are', 'take no account of. / where we are'],
  ['an ellipsis', 'take no account of... / where we are', 'take no account of... / where we are'],
  ['a capital behind a comma', "and yes, / We're angry, as we're cold", "and yes, / we're angry, as we're cold"],
  ['a capital behind no mark', 'that is how / The old man, the hero', 'that is how / the old man, the hero'],
  ['a capital behind a full stop', 'that is how. / The old man, the hero', 'that is how. / The old man, the hero'],
  ['a name', 'and / Rose was there, as Rose does; a rose', 'and / Rose was there, as Rose does; a rose'],
  ['a word that is nowhere written small', 'und / Häuser stehen', 'und / Häuser stehen'],
  ['I', 'and / I know', 'and / I know'],
  ['marks in pairs', '"No," he said. "Why?" And "so"', '"No," he said. "Why?" And "so"'],
  ['a mark that never closes', '"Had he" come, "then we | had gone"', '"Had he" come, then we / had gone'],
  ['inches', 'it is 6" wide, "said he in 1953"', 'it is 6" wide, "said he in 1953"'],
])('%s', (_, text, written) => {
  expect(joined(text)).toBe(written);
});
