/** What the search index holds of a session, from its upload to its end. */
import { sql } from 'kysely';
import { eraseAccount } from '../../../src/sessions/account-erasure.ts';
import { eraseSession } from '../../../src/sessions/support.ts';
import { indexBacklog } from '../../../src/worker/backlog.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { saySession, transcriptOf } from '../../support/service/said.ts';
import { claimSession, finishSession, makeSession, queueSession } from '../../support/service/sessions.ts';
import { useService } from '../../support/service/use-service.ts';

const service = await useService();

const passagesOf = (sessionId: string) =>
  service.db
    .selectFrom('passages')
    .select(['number', 'of_transcript', 'first_segment', 'starts', sql<string>`words::text`.as('words')])
    .where('session_id', '=', sessionId)
    .orderBy('number')
    .execute();

test('a title is in the index from the upload on, the transcript with its completion', async () => {
  const { id } = await makeAccount(service.db);
  const session = await queueSession(service.db, id, { title: 'Board meetings 2026' });
  const [title, ...others] = await passagesOf(session.id);
  expect(others).toEqual([]);
  expect(title).toMatchObject({ number: 0, of_transcript: false, starts: [] });
  expect(title!.words).toMatch(/^'....--2026':3 '....--board':1 '....--meetings':2$/);

  const transcript = transcriptOf(['The meetings began', 'We agreed'], 'en-GB');
  await finishSession(service.db, session, await claimSession(service.db, session), transcript);
  const [whole, ...rest] = await passagesOf(session.id);
  expect(rest).toEqual([]);
  expect(whole).toMatchObject({ number: 0, of_transcript: true, first_segment: 0, starts: [5, 8] });
  // Stems with their places; of very common words there are none.
  expect(whole!.words).toMatch(
    /^'....--2026':3 '....enagre':9 '....enbegan':7 '....enboard':1 '....enmeet':2,6 '....enthe' '....enwe'$/,
  );
});

test('24 hours of speech → passages in which no word has lost a place, each beginning before the last one ends', async () => {
  const { id } = await makeAccount(service.db);
  // 216,000 words, of which every second is the same.
  const texts = Array.from({ length: 21_600 }, (_, index) =>
    Array.from({ length: 5 }, (__, word) => `la w${(index * 5 + word) % 9_000}`).join(' '),
  );
  const sessionId = await saySession(service.db, id, texts);
  const passages = await passagesOf(sessionId);
  const { rows } = await sql<{ places: number }>`
    select count(distinct (p.first_segment, place))::int as places from passages p, unnest(p.words) as w, unnest(w.positions) as place
    where p.session_id = ${sessionId} and w.lexeme like '%--la'`.execute(service.db);
  expect(rows[0]!.places).toBeGreaterThanOrEqual(108_000);
  for (const [index, { first_segment: first }] of passages.entries()) {
    const before = passages[index - 1];
    if (before !== undefined) expect(first).toBeLessThanOrEqual(before.first_segment + before.starts.length - 1);
  }
});

test('eight million letters without a space, of two alphabets → stored, and the words around them are found', async () => {
  const { id } = await makeAccount(service.db);
  const sessionId = await saySession(service.db, id, [`first ${'x'.repeat(4_000_000)}${'ж'.repeat(4_000_000)} last`]);
  const words = (await passagesOf(sessionId)).map((passage) => passage.words).join(' ');
  expect(words).toMatch(/--first'.*--last'/);
});

test('8,000 words of 64 letters → stored, and what follows is found', async () => {
  const { id, key } = await makeAccount(service.db);
  const words = Array.from({ length: 8_000 }, (_, index) => `${'ю'.repeat(58)}${String(index).padStart(6, '0')}`);
  const sessionId = await saySession(service.db, id, [words.join(' '), 'last'], { language: 'de' });
  const { body } = await service.get(`/v1/sessions/${sessionId}/transcript?q=last`, key).expect(200);
  expect((body as { segments: { index: number }[] }).segments.map(({ index }) => index)).toEqual([1]);
});

test('a session or an account that is erased → none of its words are left, and all of the others', async () => {
  const [account, other] = [await makeAccount(service.db), await makeAccount(service.db)];
  const [gone, stays] = [
    await saySession(service.db, account.id, 'secret', { language: 'en' }),
    await saySession(service.db, other.id, 'secret', { language: 'en' }),
  ];
  expect(await eraseSession(service, account.id, gone)).toMatchObject({ kind: 'erased' });
  expect(await passagesOf(gone)).toEqual([]);
  const more = await saySession(service.db, account.id, 'secret');
  expect(await eraseAccount(service, account.id)).toMatchObject({ kind: 'erased' });
  expect(await passagesOf(more)).toEqual([]);
  const languages = await service.db.selectFrom('search_languages').select('account_id').execute();
  expect(languages.filter(({ account_id: id }) => id === account.id)).toEqual([]);
  expect(await passagesOf(stays)).toHaveLength(1);
});

test('sessions of an older version of the service or of the index → the same in the index as if they were new; those that are in it stay as they are', async () => {
  const { id } = await makeAccount(service.db);
  const spoken = await saySession(service.db, id, ['Guten Morgen', 'Die Verträge'], {
    title: 'Verträge',
    language: 'de',
  });
  const { id: failed } = await makeSession(service.db, id, { status: 'failed', title: 'Interview' });
  const halfIndexed = await saySession(service.db, id, 'good morning', { language: 'en' });
  const longer = await saySession(service.db, id, 'willing to pay', { language: 'en' });
  const all = () => Promise.all([spoken, failed, halfIndexed, longer].map(passagesOf));
  const asNew = await all();
  await service.db.deleteFrom('search_languages').where('account_id', '=', id).execute();
  await service.db.deleteFrom('passages').where('session_id', 'in', [spoken, failed]).execute();
  // As a new API and an old worker leave it.
  await sql`update passages set of_transcript = false, starts = '{}', words = '' where session_id = ${halfIndexed}`.execute(
    service.db,
  );
  // By an older version of the index it had more passages than now.
  await sql`update passages set version = 0, words = '' where session_id = ${longer}`.execute(service.db);
  await sql`insert into passages select account_id, session_id, 1, created_at, true, 0, '{}', '', 0 from passages
    where session_id = ${longer}`.execute(service.db);
  const stopping = new AbortController();
  await indexBacklog({ ...service, stopping: stopping.signal });
  expect(await all()).toEqual(asNew);
  const before = await sql`select xmin::text from passages order by session_id, number`.execute(service.db);
  await indexBacklog({ ...service, stopping: stopping.signal });
  expect((await sql`select xmin::text from passages order by session_id, number`.execute(service.db)).rows).toEqual(
    before.rows,
  );
});

/** The database refuses to hold what these sessions say, as a fault of the index would make it. */
async function refuse(sessionIds: string[]): Promise<void> {
  await sql`
    create or replace function refuse_passage() returns trigger language plpgsql as $$
    begin raise exception 'refused' using errcode = '54000'; end $$`.execute(service.db);
  await sql`
    create trigger refuse before insert or update on passages for each row
    when (new.of_transcript and new.session_id = any(${sql.lit(`{${sessionIds.join(',')}}`)}::uuid[]))
    execute function refuse_passage()`.execute(service.db);
}
const accept = () => sql`drop trigger refuse on passages`.execute(service.db);

test('sessions that the index does not take → they stop no other, are logged, and are indexed by a later look', async () => {
  const { id } = await makeAccount(service.db);
  const sessions = await Promise.all(['one', 'two', 'three'].map((text) => saySession(service.db, id, text)));
  const isIndexed = async () => {
    const found = await Promise.all(sessions.map((sessionId) => passagesOf(sessionId)));
    return found.map((passages) => passages.some((passage) => passage.of_transcript));
  };
  await service.db.deleteFrom('passages').where('session_id', 'in', sessions).execute();
  const bad = sessions.toSorted()[0]!;
  await refuse([bad]);
  const logged: unknown[] = [];
  const log = { ...service.log, info: () => {}, error: (about: unknown) => void logged.push(about) } as never;
  const look = () => indexBacklog({ db: service.db, log, stopping: new AbortController().signal });
  await look();
  expect(await isIndexed()).toEqual(sessions.map((sessionId) => sessionId !== bad));
  expect(logged).toMatchObject([{ sessionId: bad }]);
  await accept();
  await look();
  expect(await isIndexed()).toEqual([true, true, true]);
});
