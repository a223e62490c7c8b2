/** GET /v1/sessions/{id}/transcript: which form it takes, by `format` and by `Accept`. */
import { makeSession } from '../support/service/sessions.ts';
import { useAccount, useService } from '../support/service/use-service.ts';

const service = await useService();
const account = await useAccount(service);
/** A session of each status. */
const session: Record<string, string> = {};
beforeAll(async () => {
  for (const status of ['queued', 'completed', 'failed'] as const) {
    session[status] = (await makeSession(service.db, account.id, { status })).id;
  }
});

const read = (status: string, query = '') =>
  service.get(`/v1/sessions/${session[status]}/transcript${query}`, account.key).buffer(true);

const vtt = 'WEBVTT\n\n00:00:00.120 --> 00:00:03.480\ngood morning\n\n00:00:03.900 --> 00:00:06.950\nbegin\n';
const srt = '1\r\n00:00:00,120 --> 00:00:03,480\r\ngood morning\r\n\r\n2\r\n00:00:03,900 --> 00:00:06,950\r\nbegin\r\n';
const plain = 'good morning\nbegin\n';
const md = expect.stringMatching(
  /^# Board meeting\n\n\d{4}-\d\d-\d\d, 0:00:07\n\n\*\*0:00:00\*\* good morning begin\n$/,
);

describe('Accept', () => {
  const json = 'application/json';
  test.each(['image/png', 'text/html;q=0.5'])(
    '%j → 406 not_acceptable as problem+json, on any status',
    async (accept) => {
      for (const status of ['completed', 'queued']) {
        const { body, headers } = await read(status).set('Accept', accept).expect(406);
        expect(body).toMatchObject({ code: 'not_acceptable' });
        expect(headers['content-type']).toBe('application/problem+json');
        expect(headers).not.toHaveProperty('etag');
      }
    },
  );

  test.each<[string, string, number, string, string | undefined]>([
    ['queued', 'text/vtt', 409, 'transcript_not_ready', '2'],
    ['failed', 'text/vtt', 409, 'transcription_failed', undefined],
  ])('a session that is %s, %s → %i %s as problem+json', async (status, accept, code, name, retryAfter) => {
    const { body, headers } = await read(status).set('Accept', accept).set('If-None-Match', '*').expect(code);
    expect(body).toMatchObject({ code: name, ...(retryAfter !== undefined && { retryAfterSeconds: 2 }) });
    expect(headers['content-type']).toBe('application/problem+json');
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['retry-after']).toBe(retryAfter);
  });

  test.each([
    ['json', json, undefined],
    ['vtt', 'text/vtt; charset=utf-8', vtt],
    ['srt', 'application/x-subrip; charset=utf-8', srt],
    ['txt', 'text/plain; charset=utf-8', plain],
    ['md', 'text/markdown; charset=utf-8', md],
  ])(
    'format=%s → what it says, whatever Accept says; Accept alone → the same with the same tag',
    async (format, type, expected) => {
      const { text, headers } = await read('completed', `?format=${format}`).set('Accept', 'image/png').expect(200);
      expect(headers['content-type']).toBe(type);
      if (expected !== undefined) expect(text).toEqual(expected);
      const byAccept = await read('completed').set('Accept', type.split(';')[0]!).expect(200);
      expect(text).toBe(byAccept.text);
      for (const name of ['content-type', 'etag', 'vary']) expect(headers[name]).toBe(byAccept.headers[name]);
    },
  );

  test('include=words with captions → the captions as they are', async () => {
    const { text } = await read('completed', '?include=words').set('Accept', 'text/vtt').expect(200);
    expect(text).toBe(vtt);
  });
});
