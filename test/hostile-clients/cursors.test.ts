/** A cursor is opaque: what did not come from us is 400, and no position leads out of the account. */
import { encodeCursor } from '../../src/api/reads/cursor.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { useAccount, useService } from '../support/service/use-service.ts';
import { makeSession } from '../support/service/sessions.ts';

const service = await useService();
const account = await useAccount(service, { limits: { requests_per_minute: 100_000 } });
let cursor: string;
let own: string[];
beforeAll(async () => {
  const made = [await makeSession(service.db, account.id), await makeSession(service.db, account.id)];
  own = made.map(({ id }) => id);
  await makeSession(service.db, (await makeAccount(service.db)).id);
  const { body } = await service.get('/v1/sessions?limit=1', account.key).expect(200);
  cursor = (body as { nextCursor: string }).nextCursor;
});
afterEach(() => {
  expect(service.logLines.filter((line) => /"level":(50|60)/.test(line))).toEqual([]);
});

async function statusAndCode(text: string, more = ''): Promise<unknown[]> {
  const { status, body } = await service.get(`/v1/sessions?cursor=${text}${more}`, account.key);
  return [status, (body as { code: string }).code];
}

test('each bit of a cursor turned over → 400 invalid_cursor', async () => {
  const bytes = Buffer.from(cursor, 'base64url');
  const damaged = Array.from({ length: bytes.length * 8 }, (_, bit) => {
    const copy = Buffer.from(bytes);
    copy[bit >> 3]! ^= 1 << (bit & 7);
    return copy.toString('base64url');
  });
  const seen = new Set<string>();
  for (const text of damaged) seen.add(JSON.stringify(await statusAndCode(text)));
  expect(damaged.length).toBeGreaterThan(500);
  expect([...seen]).toEqual(['[400,"invalid_cursor"]']);
});

test('each character of a cursor left out or doubled, and each beginning of it → 400 invalid_cursor', async () => {
  const places = Array.from({ length: cursor.length }, (_, i) => i);
  const damaged = places.flatMap((i) => [
    cursor.slice(0, i) + cursor.slice(i + 1),
    cursor.slice(0, i) + cursor[i] + cursor.slice(i),
    ...(i > 0 ? [cursor.slice(0, i)] : []),
  ]);
  const seen = new Set<string>();
  // Doubling the second of two equal characters gives the same text.
  for (const text of new Set(damaged)) seen.add(JSON.stringify(await statusAndCode(text)));
  expect([...seen]).toEqual(['[400,"invalid_cursor"]']);
});

test.each([
  ['empty', () => ''],
  ['padded', () => `${cursor}%3D`],
  ['twice', () => cursor + cursor],
  ['in the other base64', () => Buffer.from([0xfb, 0xff, 0xfe]).toString('base64').replaceAll('+', '%2B')],
  ['with NUL', () => `${cursor}%00`],
  ['with a line break', () => `${cursor}%0d%0a`],
  ['of 1,025 characters', () => 'a'.repeat(1_025)],
  ['of 10,000 characters', () => 'a'.repeat(10_000)],
  ['beyond ASCII', () => '%F0%9F%8E%99'],
  ['SQL', () => "'%20or%20true--"],
])('a cursor that is %s → 400', async (_, make) => {
  expect((await statusAndCode(make()))[0]).toBe(400);
});

test.each(['&status=queued', '&createdAfter=2020-01-01T00:00:00Z', '&createdBefore=2030-01-01T00:00:00Z'])(
  'a cursor with a filter that it was not issued with (%s) → 400 invalid_cursor',
  async (filter) => {
    expect(await statusAndCode(cursor, filter)).toEqual([400, 'invalid_cursor']);
  },
);

test.each([
  ['the end of time', '9999-12-31T23:59:59.999999Z', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
  ['the beginning of time', '0001-01-01T00:00:00.000000Z', '00000000-0000-0000-0000-000000000000'],
  ['now, with an id of no version', '2026-11-20T00:00:00.000000Z', '00000000-0000-0000-0000-000000000001'],
])('a position made by hand at %s, with a right checksum → own sessions or none', async (_, createdAt, id) => {
  const { status, body } = await service.get(`/v1/sessions?cursor=${encodeCursor({ createdAt, id }, {})}`, account.key);
  expect([200, 400]).toContain(status);
  const items = (body as { items?: { id: string }[] }).items ?? [];
  expect(items.filter((item) => !own.includes(item.id))).toEqual([]);
});
