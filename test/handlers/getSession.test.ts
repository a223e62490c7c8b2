/** GET /v1/sessions/{id}: each status, and the 404 that tells nothing. */
import { isFinal } from '../../src/sessions/view.ts';
import { useAccount, useService } from '../support/service/use-service.ts';
import { claimSession, makeSession, silence } from '../support/service/sessions.ts';
import type { FailureCode } from '../../db/schema.ts';
import type { WarningCode } from '../../db/sessions/warning.ts';

const service = await useService();
const account = await useAccount(service);

type Options = Parameters<typeof makeSession>[2];
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/) as string;
const completed = { status: 'completed', startedAt: time, completedAt: time, durationMs: 7_100, chargedMs: 7_100 };
const completedInSilence = { ...completed, chargedMs: 0 };

test.each<[string, Options, object]>([
  ['queued, duration not measured', {}, { status: 'queued' }],
  ['queued, duration measured', { durationMs: 0 }, { status: 'queued', durationMs: 0 }],
  ['processing, nothing reported', { status: 'processing' }, { status: 'processing', startedAt: time }],
  ['processing, 0 %', { status: 'processing', progress: 0 }, { status: 'processing', startedAt: time, progress: 0 }],
  ['completed', { status: 'completed', durationMs: 9_000 }, { ...completed, language: 'en-US' }],
  [
    'completed in silence, language unknown',
    { status: 'completed', transcript: { ...silence, language: undefined } },
    completedInSilence,
  ],
  [
    'completed, with a warning that only a newer version knows',
    { status: 'completed', transcript: { ...silence, warnings: [{ code: 'new_code' as WarningCode }] } },
    {
      ...{ ...completedInSilence, language: 'en-US' },
      warnings: [
        { code: 'new_code', message: 'Something about the recording makes its transcript less than it could be.' },
      ],
    },
  ],
  [
    'failed',
    { status: 'failed', durationMs: 9_000 },
    {
      ...{ status: 'failed', startedAt: time, completedAt: time, durationMs: 9_000 },
      error: { code: 'unsupported_media', message: 'The audio could not be decoded.' },
    },
  ],
  [
    'failed for a reason that only a newer version knows',
    { status: 'failed', errorCode: 'new_reason' as FailureCode },
    {
      ...{ status: 'failed', startedAt: time, completedAt: time },
      error: { code: 'new_reason', message: 'The transcription failed.' },
    },
  ],
])('a session that is %s → exactly its fields', async (_, options, expected) => {
  const { id } = await makeSession(service.db, account.id, { ...options, title: 'Déjà vu 🎙' });
  const { body, headers, text } = await service.get(`/v1/sessions/${id}`, account.key).expect(200);
  expect(body).toEqual({ id, title: 'Déjà vu 🎙', createdAt: time, ...expected });
  expect(headers['cache-control']).toBe('no-store');
  expect(headers['content-type']).toBe('application/json');
  expect(headers['retry-after']).toBe(isFinal(body.status) ? undefined : '2');
  expect(text).not.toContain(account.id);
});

test('a session that is claimed again → progress starts anew', async () => {
  const session = await makeSession(service.db, account.id, { status: 'processing', progress: 80 });
  await claimSession(service.db, session);
  const { body } = await service.get(`/v1/sessions/${session.id}`, account.key).expect(200);
  expect(body).not.toHaveProperty('progress');
});

test('the id in upper case → the same session, its id in lower case', async () => {
  const { id } = await makeSession(service.db, account.id);
  const { body } = await service.get(`/v1/sessions/${id.toUpperCase()}`, account.key).expect(200);
  expect(body.id).toBe(id);
});
