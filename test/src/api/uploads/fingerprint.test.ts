import { createHash } from 'node:crypto';
import { fingerprintOf } from '../../../../src/api/uploads/fingerprint.ts';
import type { UploadFields } from '../../../../src/api/uploads/form.ts';

const file = createHash('sha256').update('audio').digest();

/** Fields of a form, also of one that the contract does not have yet. */
const of = (fields: object) => fingerprintOf(file, fields as UploadFields).toString('hex');

test('forms with durationMs alone → as they were stored before there were other fields', () => {
  const stored = (durationMs: string) => createHash('sha256').update(file).update(durationMs).digest('hex');
  expect(of({})).toBe(stored(''));
  expect(of({ durationMs: 1834000 })).toBe(stored('1834000'));
});

test('the same fields in another order → the same', () => {
  expect(of({ title: 'a', keyterms: ['x', 'y'] })).toBe(of({ keyterms: ['x', 'y'], title: 'a' }));
});

test('another file, field, value or order of a list → each of its own', () => {
  const forms = [
    ...[{}, { durationMs: 1 }, { durationMs: 11 }, { title: 'a' }, { title: 'b' }, { reference: 'a' }],
    ...[{ durationMs: 1, title: 'a' }, { title: 'a', reference: 'b' }, { title: 'a","reference":"b' }],
    ...[{ keyterms: ['x', 'y'] }, { keyterms: ['y', 'x'] }, { keyterms: ['x,y'] }, { keyterms: [] }],
  ];
  const fingerprints = [...forms.map(of), fingerprintOf(createHash('sha256').digest(), {}).toString('hex')];
  expect(new Set(fingerprints).size).toBe(fingerprints.length);
});
