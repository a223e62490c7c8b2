/** What the contract says of repeating requests, to people and to programs. */
import { retryOfFailure, retryOfProblem } from '../../codegen/retries.ts';
import { contract, schemaOf } from '../../src/api/contract/document.ts';
import type { FailureCode } from '../../db/schema.ts';

const codesIn = (text: string) => [...text.matchAll(/`([a-z_]+)`/g)].map(([, code]) => code!);

test('the list in the introduction → the one that programs read, each code once', () => {
  const rows = [...info.description.matchAll(/^- `(\w+)` \(.*?\): (.+)$/gm)];
  const told = rows.flatMap(([, action, codes]) => codesIn(codes!).map((code) => [code, action]));
  expect(new Set(told.map(([code]) => code)).size).toBe(told.length);
  expect(Object.fromEntries(told)).toEqual(retryOfProblem);
});

test('the codes of failed sessions → all in their table, and named in its description', () => {
  // Does not compile when one is missing.
  const codes: Record<FailureCode, string> = retryOfFailure;
  const { properties } = schemaOf('SessionError') as Described;
  const named = codesIn(properties['code']!.description).filter((code) => code in codes);
  expect(new Set(named)).toEqual(new Set(Object.keys(codes)));
});

const { info } = contract as unknown as { info: { description: string } };

interface Described {
  properties: Record<string, { description: string }>;
}
