import { decodeCursor, encodeCursor } from '../../../../src/api/reads/cursor.ts';
import type { ListFilter } from '../../../../src/api/reads/cursor.ts';

const position = { createdAt: '2026-11-20T09:30:00.123456Z', id: '01a1f89b-f1a2-7605-ae51-71a046f5ee3c' };

test.each<[string, ListFilter, ListFilter]>([
  ['no filters', {}, {}],
  ['statuses in another order', { statuses: ['queued', 'failed'] }, { statuses: ['failed', 'queued', 'failed'] }],
  ['times', { createdAfter: '-infinity' }, { createdAfter: '-infinity', createdBefore: undefined }],
])('a cursor with %s → its position, in characters that need no encoding', (_, issued, used) => {
  const cursor = encodeCursor(position, issued);
  expect(cursor).toMatch(/^[A-Za-z0-9_-]{1,1024}$/);
  expect(decodeCursor(cursor, used)).toEqual(position);
});

test.each<[string, ListFilter, ListFilter]>([
  ['a status', {}, { statuses: ['queued'] }],
  ['no status', { statuses: ['queued'] }, {}],
  ['another reference', { reference: 'a' }, { reference: 'b' }],
  ['a language instead of a reference', { reference: 'en' }, { language: 'en' }],
  ['after instead of before', { createdAfter: 'infinity' }, { createdBefore: 'infinity' }],
])('a cursor used with %s → 400 invalid_cursor', (_, issued, used) => {
  const attempt = () => decodeCursor(encodeCursor(position, issued), used);
  expect(attempt).toThrow(expect.objectContaining({ status: 400, code: 'invalid_cursor' }));
});

test('a cursor with any one character changed, added or left out → 400 invalid_cursor', () => {
  const cursor = encodeCursor(position, {});
  const damaged = [...cursor].map((own, i) => cursor.slice(0, i) + (own === 'A' ? 'B' : 'A') + cursor.slice(i + 1));
  for (const wrong of [...damaged, cursor.slice(1), cursor.slice(0, -1), `${cursor}A`, 'A', '-', '____', 'null']) {
    expect(() => decodeCursor(wrong, {})).toThrow(expect.objectContaining({ code: 'invalid_cursor' }));
  }
});

test.each([
  ['a time that is none', { createdAt: 'infinity', id: position.id }],
  ['SQL', { createdAt: position.createdAt, id: "' or true --" }],
  ['an id in another form', { createdAt: position.createdAt, id: `{${position.id}}` }],
])('a cursor forged with a right checksum and %s → 400 invalid_cursor', (_, forged) => {
  const attempt = () => decodeCursor(encodeCursor(forged, {}), {});
  expect(attempt).toThrow(expect.objectContaining({ status: 400, code: 'invalid_cursor' }));
});
