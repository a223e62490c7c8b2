import { createHash } from 'node:crypto';
import { fingerprintOf } from '../../../../handlers/createTranscription.ts';
import type { UploadFields } from '../../../../src/api/uploads/form.ts';

const file = createHash('sha256').update('audio').digest();

/** Fields of a form, also of one that the contract does not have yet. */
const of = (fields: object) => fingerprintOf(file, fields as UploadFields).toString('hex');

test('a form without fields → as it was stored before there were any', () => {
  expect(of({})).toBe(createHash('sha256').update(file).digest('hex'));
});

test('durationMs only helps to refuse early → the same with any and with none', () => {
  expect(of({ durationMs: 1 })).toBe(of({}));
  expect(of({ durationMs: 1, title: 'a' })).toBe(of({ durationMs: 2, title: 'a' }));
});

test('the same fields in another order → the same', () => {
  expect(of({ title: 'a', keyterms: ['x', 'y'] })).toBe(of({ keyterms: ['x', 'y'], title: 'a' }));
});

test('another file, field, value or order of a list → each of its own', () => {
  const forms = [
    ...[{}, { speakers: 1 }, { speakers: 11 }, { title: 'a' }, { title: 'b' }, { reference: 'a' }],
    ...[{ speakers: 1, title: 'a' }, { title: 'a', reference: 'b' }, { title: 'a","reference":"b' }],
    ...[{ keyterms: ['x', 'y'] }, { keyterms: ['y', 'x'] }, { keyterms: ['x,y'] }, { keyterms: [] }],
  ];
  const fingerprints = [...forms.map(of), fingerprintOf(createHash('sha256').digest(), {}).toString('hex')];
  expect(new Set(fingerprints).size).toBe(fingerprints.length);
});
