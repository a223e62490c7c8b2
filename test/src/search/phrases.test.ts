/** Whatever phrase of a transcript somebody asks for is found where it stands, in every language that has common words. */
import { sql } from 'kysely';
import { seededRandom } from '../../rig/random.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { saySession } from '../../support/service/said.ts';
import { useService } from '../../support/service/use-service.ts';

const service = await useService();

const languages = {
  ...{ da: 'danish', de: 'german', en: 'english', es: 'spanish', fi: 'finnish', fr: 'french', hu: 'hungarian' },
  ...{ it: 'italian', ne: 'nepali', nl: 'dutch', no: 'norwegian', pt: 'portuguese', ru: 'russian', sv: 'swedish' },
  ...{ tr: 'turkish' },
};
const endings =
  'a e i o s n r t en er es et ne te in ing ed ly ste ни и у а е ом ы ов ला को हरू lar ler da de na nak'.split(' ');

/**
 * The very common words of a language, and others: those that have one of the common words for their stem, and some that
 * have nothing to do with them.
 */
async function vocabularyOf(name: string): Promise<{ common: string[]; others: string[] }> {
  const { rows } = await sql<{ common: string[]; others: string[] }>`
    with common as (
      select distinct word from regexp_split_to_table(
        pg_read_file((select setting from pg_config where name = 'SHAREDIR') || ${`/tsearch_data/${name}.stop`}), '\\s+') as word
      where word <> ''
    )
    select array(select word from common order by word) as common, array(
      select distinct word || ending as word from common cross join unnest(${endings}::text[]) as ending
      where ts_lexize(${`${name}_stem`}::regdictionary, word || ending) = array[word] order by word limit 60) as others`.execute(
    service.db,
  );
  const { common, others } = rows[0]!;
  return { common, others: [...others, 'berlin', 'radio', '2026', 'konto', 'телефон', 'क', 'kaffe'] };
}

test.each(Object.entries(languages))(
  '%s: any phrase of a transcript → the segments that it stands in',
  async (tag, name) => {
    const { id, key } = await makeAccount(service.db);
    const { common, others } = await vocabularyOf(name);
    const below = seededRandom(name.length);
    const oneOf = (words: readonly string[]) => words[below(words.length)]!;
    const texts = Array.from({ length: 60 }, () =>
      Array.from({ length: 6 }, () => oneOf(below(10) < 6 ? common : others)).join(' '),
    );
    const sessionId = await saySession(service.db, id, texts, { language: tag });
    const spoken = texts.flatMap((text, segment) => text.split(' ').map((word) => ({ word, segment })));
    for (let asked = 0; asked < 12; asked += 1) {
      const from = below(spoken.length - 8);
      const phrase = spoken.slice(from, from + 1 + below(7));
      if (phrase.every(({ word }) => common.includes(word))) continue;
      const q = encodeURIComponent(`"${phrase.map(({ word }) => word).join(' ')}"`);
      const { body } = await service.get(`/v1/sessions/${sessionId}/transcript?q=${q}`, key).expect(200);
      const found = (body as { segments: { index: number }[] }).segments.map(({ index }) => index);
      const stands = phrase.map(({ segment }) => segment);
      expect({ phrase, found, isFound: found.some((index) => stands.includes(index)) }).toMatchObject({
        isFound: true,
      });
    }
  },
);

test.each([
  ['willing to pay', 'Are they willing to pay it'],
  ['the others', 'these are the others of them'],
  ['owned mostly', 'it was owned mostly by most who own'],
])('%s → found, although a very common word has the same stem', async (phrase, text) => {
  const { id, key } = await makeAccount(service.db);
  const sessionId = await saySession(service.db, id, ['I will have no other most', text, 'own will other'], {
    language: 'en',
  });
  const { body } = await service.get(`/v1/sessions/${sessionId}/transcript?q="${encodeURIComponent(phrase)}"`, key);
  expect((body as { segments: { index: number }[] }).segments.map(({ index }) => index)).toEqual([1]);
});
