/** `GET /sessions?q=…`: what is found, and where. */
import fc from 'fast-check';
import { sql } from 'kysely';
import { searchDocumentOf } from '../../src/search/passages.ts';
import { eraseSession } from '../../src/sessions/support.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { saySession } from '../support/service/said.ts';
import { makeSession } from '../support/service/sessions.ts';
import { tone } from '../support/uploads/uploads.ts';
import { useAccount, useService } from '../support/service/use-service.ts';

const service = await useService();
const account = await useAccount(service);

interface Found {
  items: {
    id: string;
    title: string;
    matches: { segmentIndex: number; startMs: number; endMs: number; text: string }[];
  }[];
  nextCursor?: string;
}

async function search(q: string, more = '', key = account.key): Promise<Found> {
  const { body } = await service.get(`/v1/sessions?q=${encodeURIComponent(q)}${more}`, key).expect(200);
  return body as Found;
}

const idsOf = ({ items }: Found) => items.map(({ id }) => id);

/** By hand: what is said, what finds it, and what does not. */
const languages: [string, string, string[], string[]][] = [
  [
    'en-US',
    'The committees approved our budgets in the café, mostly at noon',
    ['committee', 'BUDGET', 'approves', 'cafe', 'café', '"our budget"', 'committee noon', 'the budget'],
    ['commit', '"budget approved"', 'noon -cafe', 'midnight'],
  ],
  [
    'de',
    'Wir prüften die Arbeitsverträge und die Straßenbahn über dem Donaudampfschifffahrtskanal',
    ['prüfen', 'PRUFTEN', 'Arbeitsvertrag', 'Vertrag', 'Verträge', 'strassenbahn', 'Bahn', 'Donau'],
    ['Ver', 'Seilbahn', '"Vertrag und"'],
  ],
  [
    'fr',
    "L'été dernier, les élèves étudiaient à l'école",
    ['ete', 'élève', 'étudier', 'école', "l'ecole", '"à l\'école"'],
    ['lycée', 'dernière école maternelle'],
  ],
  [
    'ru',
    'Мы обсуждали новые договоры и самолёты',
    ['договор', 'обсуждать', 'НОВЫЙ', 'самолет', 'самолёт'],
    ['старый', 'самовар'],
  ],
  [
    'zh',
    '我们今天讨论了人工智能和茶',
    ['人工智能', '讨论', '茶', '今天 智能', '我', '"讨论了人工"'],
    ['明天', '工人', '-茶 讨论'],
  ],
  [
    'ja',
    '明日の会議は東京タワーで午後三時からです',
    ['会議', '東京', 'タワー', 'ﾀﾜｰ', '三時', '午後 明日'],
    ['大阪', '京都', '会社'],
  ],
  ['th', 'วันนี้เราจะประชุมเรื่องงบประมาณ', ['ประชุม', 'งบประมาณ', 'วันนี้'], ['พรุ่งนี้']],
  ['ko', '내일 회의에서 예산을 논의합니다', ['회의', '예산', '내일 예산'], ['어제']],
  ['pl', 'Dzień dobry, omówimy żółtą łódź', ['dzien', 'zolta lodz', 'ŁÓDŹ'], ['łodzi']],
  [
    'de',
    'Die Straße ist überall',
    ['strasse', 'STRASSE', 'uberall', '“straße ist”', '„Straße ist“', '«die straße»', 'ueberall'],
    ['-strasse überall'],
  ],
  ['de', 'Wir prüfen', ['prufen', 'pruefen'], []],
  [
    'en',
    'send an e-mail and a well-known über hint',
    ['e-mail', '"e mail"', 'mail', 'e', 'uber', '‘mail’'],
    ['email', 'ueber', '“mail e”'],
  ],
];

test.each(languages)('%s: %s → found by words as people type them', async (language, text, found, missed) => {
  const { id, key } = await makeAccount(service.db);
  const session = await saySession(service.db, id, text, { language });
  for (const q of found) expect({ q, ids: idsOf(await search(q, '', key)) }).toEqual({ q, ids: [session] });
  for (const q of missed) expect({ q, ids: idsOf(await search(q, '', key)) }).toEqual({ q, ids: [] });
});

test('words of several passages and of the title, phrases over segments and passages, exclusion → as people know them', async () => {
  const { id, key } = await makeAccount(service.db);
  const filler = Array.from({ length: 2_000 }, (_, index) => `la la la la la w${index}`);
  const texts = ['Alpha begins', ...filler, 'the northern', 'lights end in omega'];
  const session = await saySession(service.db, id, texts, { title: 'Board meeting', language: 'en' });
  await saySession(service.db, id, 'northern and southern lights, alpha', { title: 'Another', language: 'en' });
  const passages = await service.db.selectFrom('passages').select('number').where('session_id', '=', session).execute();
  expect(passages.length).toBeGreaterThan(10);
  const found = ['alpha omega', 'board omega', '"northern lights"', '"northern lights', 'lights -southern'];
  for (const q of [...found, '"board meeting"', 'omega -"lights northern"'])
    expect({ q, ids: idsOf(await search(q, '', key)) }).toEqual({ q, ids: [session] });
  for (const q of ['omega -alpha', '"meeting alpha"', '"lights northern"', 'omega -board', 'alpha southern omega'])
    expect({ q, ids: idsOf(await search(q, '', key)) }).toEqual({ q, ids: [] });

  const matchesOf = async (q: string) => (await search(q, '', key)).items[0]!.matches;
  expect(await matchesOf('omega alpha')).toEqual([
    { segmentIndex: 0, startMs: 0, endMs: 900, text: 'Alpha begins' },
    { segmentIndex: 2_002, startMs: 2_002_000, endMs: 2_002_900, text: 'lights end in omega' },
  ]);
  // A phrase is where it begins.
  expect((await matchesOf('"northern lights"')).map(({ segmentIndex }) => segmentIndex)).toEqual([2_001]);
  expect((await matchesOf('la')).map(({ segmentIndex }) => segmentIndex)).toEqual([1, 2, 3]);
  expect((await matchesOf('w7')).map(({ text }) => text)).toEqual(['la la la la la w7']);
  expect(await matchesOf('board')).toEqual([]);
});

test('texts that look like the JSON around them → matches are whole', async () => {
  const { id, key } = await makeAccount(service.db);
  const texts = ['},{"index":1,"startMs":0 one', 'two "quoted" \\ back', 'three ]', 'four }]'];
  await saySession(service.db, id, texts);
  for (const [index, q] of ['one', 'two', 'three', 'four'].entries()) {
    const { items } = await search(q, '', key);
    expect(items[0]!.matches.map(({ segmentIndex, text }) => [segmentIndex, text])).toEqual([[index, texts[index]]]);
  }
});

test('filters and cursor go together with q, newest first; a cursor of another q → 400', async () => {
  const { id, key } = await makeAccount(service.db);
  const ids: string[] = [];
  for (let hour = 0; hour < 9; hour += 1) {
    const createdAt = `2026-01-01T0${hour}:00:00Z`;
    const made =
      hour % 3 === 2
        ? (await makeSession(service.db, id, { title: 'Budget', status: 'failed', createdAt })).id
        : await saySession(service.db, id, 'the budget', { createdAt });
    ids.unshift(made);
  }
  await saySession(service.db, id, 'something else', { createdAt: '2026-01-01T04:30:00Z' });
  expect(idsOf(await search('budget', '', key))).toEqual(ids);
  expect(idsOf(await search('budget', '&status=failed', key))).toEqual([ids[0], ids[3], ids[6]]);
  const times = '&createdAfter=2026-01-01T03:00:00Z&createdBefore=2026-01-01T06:00:00Z';
  expect(idsOf(await search('budget', times, key))).toEqual(ids.slice(3, 6));
  const pages: string[][] = [];
  for (let more: string | undefined = ''; more !== undefined;) {
    const page: Found = await search('budget', `&limit=4${more}`, key);
    pages.push(idsOf(page));
    more = page.nextCursor && `&cursor=${page.nextCursor}`;
  }
  expect(pages).toEqual([ids.slice(0, 4), ids.slice(4, 8), ids.slice(8)]);
  const { nextCursor } = await search('budget', '&limit=4', key);
  for (const query of [`q=budgets&cursor=${nextCursor}`, `cursor=${nextCursor}`]) {
    const { body } = await service.get(`/v1/sessions?${query}`, key).expect(400);
    expect(body).toMatchObject({ code: 'invalid_cursor', errors: [{ in: 'query', name: 'cursor' }] });
  }
});

test('more sessions than are counted or looked at in one go → each that holds the words, newest first', async () => {
  const { id, key } = await makeAccount(service.db);
  await seedMany(id);
  const holders = Array.from({ length: 1_100 }, (_, index) => 1_099 - index);
  const isRare = (index: number) => index % 400 === 7;
  for (const [q, expected] of [
    ['common', holders],
    ['common also', holders],
    ['"common also"', holders],
    ['"also common"', []],
    ['common rare', holders.filter(isRare)],
    ['common -rare', holders.filter((index) => !isRare(index))],
  ] as const) {
    const titles = (await search(q, '&limit=100', key)).items.map(({ title }) => title);
    expect({ q, titles }).toEqual({ q, titles: expected.slice(0, 100).map((index) => `Session ${index}`) });
  }
});

/** 1,600 sessions, of which the oldest 1,100 hold two words, and one of 400 a third; the newest 500 hold none of them. */
async function seedMany(accountId: string): Promise<void> {
  const titles = Array.from({ length: 1_600 }, (_, index) => `Session ${index}`);
  const words = await Promise.all(
    titles.map((_, index) =>
      toTsvector(accountId, index >= 1_100 ? 'other' : `common also${index % 400 === 7 ? ' rare' : ''}`),
    ),
  );
  await sql`
    with made as (
      insert into sessions (account_id, id, job_id, queue_job_id, status, title, created_at, max_audio_ms, reserved_ms,
        attempts_left, error_code, completed_at, audio_deleted_at)
      select ${accountId}, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'failed', title,
        '2026-01-01'::timestamptz + place * interval '1 minute', 1, 0, 0, 'canceled', now(), now()
      from unnest(${titles}::text[]) with ordinality as t (title, place)
      returning id, title, created_at)
    insert into passages (account_id, session_id, number, created_at, of_transcript, first_segment, starts, words)
    select ${accountId}, made.id, 0, created_at, false, 0, '{}', words::tsvector
    from made join unnest(${titles}::text[], ${words}::text[]) as w (title, words) using (title)`.execute(service.db);
}

async function toTsvector(accountId: string, title: string): Promise<string> {
  const { passages } = await searchDocumentOf(service.db, accountId, { title, language: null, segments: undefined });
  return passages[0]!.words;
}

test('an upload that waits for a worker → found by its title at once', async () => {
  const { key } = await makeAccount(service.db);
  const file = await tone(300);
  await service.post('/v1/transcriptions', key).attach('file', file, 'Quarterly Übersicht.wav').expect(202);
  const { items } = await search('ubersicht quarterly', '', key);
  expect(items).toMatchObject([{ title: 'Quarterly Übersicht', status: 'queued', matches: [] }]);
});

test.each([
  ['only small words', 'the and of', 1],
  ['an open quote', '"owner of', 1],
  ['100 emoji', '🙂'.repeat(100), 0],
  ['SQL', `'; drop table sessions; --`, 0],
  ['the language of tsquery', 'the & !and | (of:*) <-> \\', 1],
  ['control characters', 'the\u0001\u001b and', 1],
  ['marks without letters', '\u0301\u0302', 0],
])('%s → a page, never an error', async (_, q, count) => {
  const { id, key } = await makeAccount(service.db);
  await saySession(service.db, id, 'the cat and the owner of it', { language: 'en' });
  const { items } = await search(q, '', key);
  expect(items).toHaveLength(count);
});

test('what only changes how an emoji looks → no word, neither in q nor in a text', async () => {
  const { id, key } = await makeAccount(service.db);
  const session = await saySession(service.db, id, 'we ❤️ the budget 1️⃣', { title: '❤️ Plans', language: 'en' });
  for (const q of ['❤️', '\ufe0f', '1️⃣ ❤️ budget', 'budget ❤', '-❤️ plans', '"we the budget 1"'])
    expect({ q, ids: idsOf(await search(q, '', key)) }).toEqual({ q, ids: /[a-z]/.test(q) ? [session] : [] });
  const only = async (q: string) =>
    (await service.get(`/v1/sessions/${session}/transcript?q=${encodeURIComponent(q)}`, key)).body.segments.length;
  expect([await only('\ufe0f'), await only('budget')]).toEqual([0, 1]);
});

test.each([
  ['NUL', 'q=a%00b', 'must not have the character NUL'],
  ['bytes that are no UTF-8', 'q=%FF', 'must be text: it holds bytes that are no UTF-8'],
])('%s → 400 that names q', async (_, query, message) => {
  for (const path of ['/v1/sessions', '/v1/sessions/01a1f89b-f1a2-7605-ae51-71a046f5ee3c/transcript']) {
    const { body } = await service.get(`${path}?${query}`, account.key).expect(400);
    expect(body).toMatchObject({ code: 'invalid_request', errors: [{ in: 'query', name: 'q', message }] });
  }
});

// The mark has four characters, so two of some thousand accounts share one.
test('an account whose words have the same mark in the index → its sessions are not found', async () => {
  const [{ id, key }, other] = [await makeAccount(service.db), await makeAccount(service.db)];
  const session = await saySession(service.db, other.id, 'okapi');
  const words = await toTsvector(id, 'okapi');
  await sql`update passages set words = ${words}::tsvector where session_id = ${session}`.execute(service.db);
  expect(await search('okapi', '', key)).toEqual({ items: [] });
});

/** Two accounts that store, erase and search never meet. `SEARCH_SEQUENCES=500` tries more, `SEARCH_SEED=…` others. */
const sequences = Number(process.env['SEARCH_SEQUENCES'] ?? 8);
const seed = Number(process.env['SEARCH_SEED'] ?? 17);

const word = fc.constantFrom('alpha', 'beta', 'gamma', 'delta', '会議');
const who = fc.constantFrom(0, 1);
const step = fc.oneof(
  fc.record({ kind: fc.constant('say' as const), who, words: fc.array(word, { minLength: 1, maxLength: 4 }) }),
  fc.record({ kind: fc.constant('search' as const), who, words: fc.array(word, { minLength: 1, maxLength: 2 }) }),
  fc.record({ kind: fc.constant('erase' as const), who, words: fc.constant([] as string[]) }),
);

test('whatever two accounts say and look for → each finds exactly its own sessions', async () => {
  const property = fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
    const accounts = [await makeAccount(service.db), await makeAccount(service.db)];
    const said: { who: number; id: string; words: string[] }[] = [];
    for (const { kind, who: index, words } of [...steps, ...everyWord]) {
      const account = accounts[index]!;
      if (kind === 'say') said.unshift({ who: index, id: await saySession(service.db, account.id, words), words });
      if (kind === 'erase') {
        const at = said.findIndex((session) => session.who === index);
        if (at !== -1) await eraseSession(service, account.id, said.splice(at, 1)[0]!.id);
      }
      if (kind !== 'search') continue;
      const found = idsOf(await search(words.join(' '), '&limit=100', account.key));
      const own = said.filter((session) => session.who === index && words.every((one) => session.words.includes(one)));
      expect(found).toEqual(own.map(({ id }) => id));
    }
  });
  await fc.assert(property, { numRuns: sequences, seed });
}, 3_600_000);

const everyWord = ['alpha', 'beta', 'gamma', 'delta', '会議'].flatMap((one) =>
  [0, 1].map((index) => ({ kind: 'search' as const, who: index, words: [one] })),
);
