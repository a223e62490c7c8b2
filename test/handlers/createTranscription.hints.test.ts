/** What an upload says of its recording: language, speakers, keyterms. */
import { row } from '../support/service/jobs.ts';
import { useAccount, useService } from '../support/service/use-service.ts';
import { filePart, form, formType, textPart, tone } from '../support/uploads/uploads.ts';

const service = await useService();
const account = await useAccount(service);
let audio: Buffer;
beforeAll(async () => {
  audio = await tone(100);
});

type Field = [name: string, value: string];
const send = (fields: readonly Field[], key: string) =>
  service
    .post('/v1/transcriptions', account.key)
    .set({ 'Content-Type': formType, 'Idempotency-Key': key })
    .send(form(...fields.map(([name, value]) => textPart(name, value)), filePart(audio)));

const terms = (count: number): Field[] =>
  Array.from({ length: count }, (_, index) => ['keyterms', `${index} `.padEnd(60, '語')]);

test.each<[string, Field[], object]>([
  ['nothing', [], { language: null, speakers: null, keyterms: null }],
  ['a language', [['language', 'DEU']], { language: 'de' }],
  ['a language with a script', [['language', 'zh-hant']], { language: 'zh-Hant' }],
  ['one with a script and a region', [['language', 'sr-Latn-RS']], { language: 'sr-Latn-RS' }],
  ['one with a region of the UN', [['language', 'es-419']], { language: 'es-419' }],
  ['one speaker', [['speakers', '1']], { speakers: 1 }],
  ['20 speakers', [['speakers', '20']], { speakers: 20 }],
  ['one keyterm', [['keyterms', 'Okapi']], { keyterms: ['Okapi'] }],
  ['keyterms that are SQL', [['keyterms', `{"a",'b\\'}`], ['keyterms', 'null, "é"']], { keyterms: [`{"a",'b\\'}`, 'null, "é"'] }], // prettier-ignore
  ['100 keyterms of 60 characters', terms(100), { keyterms: terms(100).map(([, term]) => term) }],
])('a form with %s → stored; the language is answered in its canonical spelling', async (name, fields, expected) => {
  const { body } = await send(fields, name).expect(202);
  const stored = await row(service, account, body.sessionId as string);
  expect(stored).toMatchObject(expected);
  const { body: session } = await service.get(`/v1/sessions/${String(body.sessionId)}`, account.key).expect(200);
  expect(session.language).toBe(stored.language ?? undefined);
  expect(session).not.toHaveProperty('keyterms');
});

const first: Field[] = [
  ...[['language', 'de'] as Field, ['speakers', '2'] as Field],
  ...[['keyterms', 'Okapi'] as Field, ['keyterms', 'Zebra'] as Field],
];
test.each<[string, number, Field[]]>([
  ['the same', 202, first],
  ['the same in another order', 202, [...first.slice(2), ...first.slice(0, 2)]],
  ['another language', 422, [['language', 'fr'], ...first.slice(1)]],
  ['no language', 422, first.slice(1)],
  ['another number of speakers', 422, [first[0]!, ['speakers', '3'], ...first.slice(2)]],
  ['one keyterm less', 422, first.slice(0, -1)],
  ['keyterms in another order', 422, [...first.slice(0, 2), first[3]!, first[2]!]],
])('an Idempotency-Key again with %s → %i', async (name, status, again) => {
  const { body } = await send(first, `key ${name}`).expect(202);
  const repeat = await send(again, `key ${name}`).expect(status);
  if (status === 202) expect(repeat.body).toEqual(body);
  else expect(repeat.body.code).toBe('idempotency_key_reused');
});
