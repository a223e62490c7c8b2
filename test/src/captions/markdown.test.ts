import { markdown } from '../../../src/captions/markdown.ts';
import type { Caption } from '../../../src/captions/formats.ts';

const heading = {
  title: 'Board meeting',
  createdAt: '2026-11-20T09:30:00.123456Z',
  durationMs: 3_725_400,
  warnings: [],
};
const written = (captions: Caption[], title = heading.title) => [...markdown({ ...heading, title }, captions)].join('');
const said = (startMs: number, text: string, speaker?: string): Caption => ({
  ...{ startMs, endMs: startMs + 900, text },
  ...(speaker !== undefined && { speaker }),
});
const paragraphsOf = (text: string) => text.trimEnd().split('\n\n').slice(2);

test('nothing was said → the heading alone, with day and length', () => {
  expect(written([])).toBe('# Board meeting\n\n2026-11-20, 1:02:05\n');
});

test('warnings → quoted below the heading, with their stretches', () => {
  const warnings = [{ message: 'The file ends early.' }, { message: 'Is it *so*?', startMs: 61_000, endMs: 64_500 }];
  expect([...markdown({ ...heading, warnings }, [said(0, 'good morning')])].join('')).toBe(
    '# Board meeting\n\n2026-11-20, 1:02:05\n\n> The file ends early.\n>\n> **0:01:01 to 0:01:04** Is it \\*so\\*?\n' +
      '\n**0:00:00** good morning\n',
  );
});

test('speakers and pauses → a paragraph each, with its time', () => {
  const text = written([
    said(0, 'good morning', 'S1'),
    said(1_000, 'let us begin', 'S1'),
    said(2_000, 'yes', 'S2'),
    said(65_000, 'one more thing', 'S2'),
  ]);
  expect(paragraphsOf(text)).toEqual([
    '**0:00:00 S1** good morning let us begin',
    '**0:00:02 S2** yes',
    '**0:01:05 S2** one more thing',
  ]);
});

test('channels → a paragraph each, also where they overlap', () => {
  const text = written([
    { ...said(0, 'good morning'), channel: 1 },
    { ...said(100, 'hello'), channel: 2 },
    { ...said(1_000, 'let us begin'), channel: 1 },
  ]);
  expect(paragraphsOf(text)).toEqual([
    '**0:00:00 Channel 1** good morning',
    '**0:00:00 Channel 2** hello',
    '**0:00:01 Channel 1** let us begin',
  ]);
});

test('an hour without a pause → paragraphs that can be read', () => {
  const paragraphs = paragraphsOf(
    written(Array.from({ length: 3_600 }, (_, second) => said(second * 1_000, 'and so on'))),
  );
  expect(paragraphs.length).toBeGreaterThan(40);
  expect(Math.max(...paragraphs.map(({ length }) => length))).toBeLessThan(800);
  expect(paragraphs.join(' ').match(/and so on/g)).toHaveLength(3_600);
});

test('what would be markup → text, and no line begins with it', () => {
  const text = written([said(0, '# 1. *all* <b>bold</b> [x](y) `code`\n- a_b')], '*Plan*\n# B');
  expect(text).toBe(
    '# \\*Plan\\* \\# B\n\n2026-11-20, 1:02:05\n\n**0:00:00** \\# 1. \\*all\\* \\<b\\>bold\\</b\\> \\[x\\](y) \\`code\\` - a\\_b\n',
  );
});
