/** How Accept and If-None-Match are read; test/handlers/getTranscript.test.ts asks the service. */
import { matchesTag, preferredType } from '../../../../src/api/answers/negotiation.ts';

test.each([
  ['text/*;q=0.5, text/vtt;q=0.1, text/plain;q=0.2', 'text/markdown'],
  ['*/*;q=0.1, application/json;q=0.05', 'text/vtt'],
  ['text/*, application/*', 'application/json'],
  ['application/json+x', undefined],
  ['', 'application/json'],
  ['TEXT/VTT', 'text/vtt'],
  ['text/plain, application/x-subrip, text/vtt, application/json', 'application/json'],
  ['text/vtt ; Q=0.2 , text/plain ; q=0.1, application/x-subrip;q=0.3', 'application/x-subrip'],
  ['text/vtt;q=2', undefined],
  ['application/json;q=0, text/*;q=0, application/x-subrip;q=0, */*', undefined],
  ['a'.repeat(10_000), undefined],
])('Accept: %s → %s', (accept, expected) => expect(preferredType(accept)).toBe(expected));

test.each<[string | undefined, boolean]>([
  [undefined, false],
  ['W/"1.json"', true],
  ['"1.json"', true],
  ['"0.json",W/"1.json"', true],
  [' * ', true],
  ['1.json', false],
  ['w/"1.json"', false],
  ['"1.jso"', false],
])('If-None-Match: %s → %s', (ifNoneMatch, expected) => expect(matchesTag(ifNoneMatch, 'W/"1.json"')).toBe(expected));
