/** What HTTP clients would hardly send; the common cases are in test/handlers/getTranscript.test.ts. */
import { matchesTag, preferredType } from '../../../../src/api/answers/negotiation.ts';

test.each([
  ['text/vtt;level=1;q=0.5, text/plain;q=0.4', 'text/vtt'],
  ['text/*;q=0.5, text/vtt;q=0.1, text/plain;q=0.2', 'text/markdown'],
  ['text/vtt;q=0.2, text/vtt;q=0.8, text/plain;q=0.5', 'text/vtt'],
  ['*/*;q=0.1, application/json;q=0.05', 'text/vtt'],
  [' , ,text/vtt,, ', 'text/vtt'],
  ['text/*', 'text/vtt'],
  ['text/markdown, text/plain', 'text/plain'],
  ['text/markdown, application/x-subrip', 'application/x-subrip'],
  ['text/*, application/*', 'application/json'],
  ['text/vtt;q=1.000', 'text/vtt'],
  ['*/vtt', undefined],
  ['application/json+x', undefined],
  ['a'.repeat(10_000), undefined],
])('Accept: %s → %s', (accept, expected) => expect(preferredType(accept)).toBe(expected));

test.each<[string | undefined, boolean]>([
  [undefined, false],
  ['W/"1.json"', true],
  ['"1.json"', true],
  ['  W/"1.json"  ', true],
  ['"0.json",W/"1.json"', true],
  [' * ', true],
  ['"*"', false],
  ['1.json', false],
  ['W/"1.json', false],
  ['w/"1.json"', false],
  ['"1.jso"', false],
])('If-None-Match: %s → %s', (ifNoneMatch, expected) => expect(matchesTag(ifNoneMatch, 'W/"1.json"')).toBe(expected));
