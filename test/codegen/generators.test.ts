/** What generators of clients stumble over, though OpenAPI allows it. */
import { readFileSync } from 'node:fs';

type Json = Record<string, unknown>;

const document = JSON.parse(readFileSync(new URL('../../codegen/openapi.json', import.meta.url), 'utf8')) as Json;

/** Every object of the contract with the place that it was found at. */
function* objectsIn(value: unknown, place = '#'): Generator<[string, Json]> {
  if (typeof value !== 'object' || value === null) return;
  yield [place, value as Json];
  for (const [name, inner] of Object.entries(value)) yield* objectsIn(inner, `${place}/${name}`);
}

const placesWhere = (isMeant: (value: Json) => boolean) =>
  [...objectsIn(document)].filter(([, value]) => isMeant(value)).map(([place]) => place);

test('every enum has a name of its own, so that none is called after its field', () => {
  const enums = placesWhere(({ enum: values }) => Array.isArray(values));
  expect(enums.length).toBeGreaterThan(0);
  expect(enums.filter((place) => !/^#\/components\/schemas\/[^/]+$/.test(place))).toEqual([]);
});

test('no length beside a format, since the type of a format is seldom a string', () => {
  const bounded = ({ format, minLength, maxLength, pattern }: Json) =>
    format !== undefined && [minLength, maxLength, pattern].some((bound) => bound !== undefined);
  expect(placesWhere(({ format }) => format === 'date-time').length).toBeGreaterThan(0);
  expect(placesWhere(bounded)).toEqual([]);
});
