/** Each script as a server's tokens tell it: its text is kept letter for letter, and nothing is cut inside a word. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { subRip, webVtt } from '../../../src/captions/formats.ts';
import { toLines, widthOf } from '../../../src/captions/lines.ts';
import { segmentsFromTexts, segmentsFromUtterances } from '../../../src/captions/segments.ts';
import { withPunctuation } from '../../../src/recognizers/openai/punctuation.ts';
import { ffmpeg } from '../../support/uploads/audio-fixtures.ts';
import { useFolder } from '../../support/use-folder.ts';
import type { SpokenWord } from '../../../src/captions/segment.ts';

const texts = {
  Latin: 'It was — I think — “well-known”, and e.g. Mr. Smith said: naïve café!',
  French: 'Ça va ? Il dit : « Une affaire ? » Elle coûte 10\u202f000 € !',
  Greek: 'Καλημέρα σας· πώς είστε σήμερα; Πολύ καλά, ευχαριστώ.',
  Cyrillic: 'Добрый день! Как дела? Всё хорошо — спасибо.',
  Armenian: 'Բարեւ ձեզ։ Ինչպե՞ս եք այսօր։',
  Georgian: 'გამარჯობა, როგორ ხარ დღეს? ძალიან კარგად.',
  Hebrew: 'שלום לכולם, מה שלומכם היום? הכול בסדר.',
  Arabic: 'مرحبا بكم، كيف حالكم اليوم؟ كل شيء على ما يرام.',
  Devanagari: 'नमस्ते, आप कैसे हैं? सब ठीक है।',
  Tamil: 'வணக்கம், நீங்கள் எப்படி இருக்கிறீர்கள்? நன்றாக இருக்கிறேன்.',
  Thai: 'สวัสดีครับ วันนี้เราจะทำงานร่วมกันที่สำนักงานและดื่มน้ำชากันตอนเย็น',
  Khmer: 'សួស្តី។ តើអ្នកសុខសប្បាយជាទេ?',
  Chinese:
    '大家好 欢迎参加今天的会议。他说：“明天也去iPhone15商店看看，好不好？”然后大家一起吃饭喝茶聊天，一直到晚上十点多才回家。',
  Japanese:
    'おはようございます。今日はコンピューターの話をしましょう。「はい」と彼は言いました、それから一緒に昼ご飯を食べに行きました。',
  Korean: '안녕하세요, 오늘 회의에 오신 것을 환영합니다. 잘 부탁드립니다!',
};

/** A token for each word, and for each character of scripts without spaces, as Whisper's tokens are. */
function tokensOf(text: string, fromMs: number): SpokenWord[] {
  const tokens = text.match(
    /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Khmr}]|[\p{L}\p{M}\p{N}]+?(?=[^\p{L}\p{M}\p{N}]|$|[\p{scx=Han}])/gu,
  )!;
  const spoken = tokens.filter((token) => /[\p{L}\p{N}\p{M}]/u.test(token));
  return spoken.map((token, index) => ({
    startMs: fromMs + index * 150,
    endMs: fromMs + index * 150 + 140,
    text: token,
  }));
}

const all = Object.values(texts).map((text, index) => withPunctuation(tokensOf(text, index * 20_000), text));
const segments = segmentsFromUtterances(
  all.map((words) => words!),
  400_000,
);
const withoutSpaces = (text: string) => text.normalize('NFC').replace(/\s/g, '');

const keptTogether = [
  ...[
    'It was — I think —',
    'Ça va ?',
    'affaire ? »',
    '10\u202f000 € !',
    '大家好 欢迎参加',
    '去iPhone15商店',
    'ครับ วันนี้',
  ],
];

test('with times of tokens → each letter, mark and space of each text, in order', () => {
  const cut = segments.map(({ text }) => text).join(' ');
  expect(withoutSpaces(cut)).toBe(withoutSpaces(Object.values(texts).join('')));
  for (const text of keptTogether) expect(segments.some((segment) => segment.text.includes(text))).toBe(true);
});

test('words → those of the language, none a part of a letter', () => {
  const wordsOf = (text: string) => segments.flatMap(({ words }) => words.map((word) => word.text)).filter((word) => text.includes(word)); // prettier-ignore
  expect(wordsOf(texts.Chinese)).toEqual(expect.arrayContaining(['大家', '欢迎', '会议。', '商店']));
  expect(wordsOf(texts.Japanese)).toEqual(expect.arrayContaining(['コンピューター', '今日']));
  expect(wordsOf(texts.Thai)).toEqual(expect.arrayContaining(['สวัสดี', 'ทำงาน', 'น้ำ']));
  for (const word of segments.flatMap(({ words }) => words)) expect(word.text).not.toMatch(/^[\p{M}\u0e33]/u);
});

test('without times → the same text, in captions that fit, cut between words', () => {
  const stretches = Object.values(texts).map((text, index) => ({
    text,
    startMs: index * 20_000,
    endMs: index * 20_000 + [...text].length * 150,
  }));
  const captions = segmentsFromTexts(stretches, 400_000, () => []);
  const cut = captions.map(({ text }) => text);
  expect(withoutSpaces(cut.join(''))).toBe(withoutSpaces(Object.values(texts).join('').normalize('NFC')));
  for (const text of keptTogether) expect(cut.some((caption) => caption.includes(text))).toBe(true);
  for (const { text, startMs, endMs } of captions) {
    expect(endMs - startMs).toBeLessThanOrEqual(8_000);
    expect(toLines(text).length).toBeLessThanOrEqual(2);
    expect(Math.max(...toLines(text).map(widthOf))).toBeLessThanOrEqual(42);
    expect(text).toMatch(/^[\p{L}\p{N}“«「]/u);
  }
});

const folder = useFolder();
const withoutReturns = (text: string) => text.replaceAll('\r', '').trim();
const written = (format: typeof webVtt) => [...format(segments)].join('');

test.each([
  ['srt', subRip],
  ['vtt', webVtt],
])('%s → ffmpeg reads each caption, its times and lines', async (ending, format) => {
  const captions = join(folder, `captions.${ending}`);
  await writeFile(captions, written(format));
  const read = await readFile(await ffmpeg('-i', captions, join(folder, `of-${ending}.srt`)), 'utf8');
  expect(withoutReturns(read)).toBe(withoutReturns(written(subRip)));
});
