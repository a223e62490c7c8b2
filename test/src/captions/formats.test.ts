import { plainText, subRip, webVtt } from '../../../src/captions/formats.ts';
import type { Caption } from '../../../src/captions/formats.ts';

const written = (format: typeof webVtt) => (captions: readonly Caption[]) => [...format(captions)].join('');
const [toWebVtt, toSubRip, toPlainText] = [written(webVtt), written(subRip), written(plainText)];

const two: Caption[] = [
  { startMs: 0, endMs: 1234, text: 'hello there' },
  { startMs: 3_723_004, endMs: 360_000_000, text: 'bye', speaker: 'S1' },
];

test('no captions → the header alone, or nothing', () => {
  expect(toWebVtt([])).toBe('WEBVTT\n');
  expect(toSubRip([])).toBe('');
  expect(toPlainText([])).toBe('');
});

test('WebVTT → header, times with a dot, speaker as a voice', () => {
  expect(toWebVtt(two)).toBe(
    'WEBVTT\n\n00:00:00.000 --> 00:00:01.234\nhello there\n\n01:02:03.004 --> 100:00:00.000\n<v S1>bye\n',
  );
});

test('SubRip → numbers from 1, times with a comma, CRLF, speaker before the text', () => {
  expect(toSubRip(two)).toBe(
    '1\r\n00:00:00,000 --> 00:00:01,234\r\nhello there\r\n\r\n2\r\n01:02:03,004 --> 100:00:00,000\r\nS1: bye\r\n',
  );
});

test('plain text → a line per segment', () => {
  expect(toPlainText(two)).toBe('hello there\nS1: bye\n');
});

test('channels that were heard separately → named where no speaker is known', () => {
  const both: Caption[] = [
    { startMs: 0, endMs: 900, text: 'hello', channel: 1 },
    { startMs: 500, endMs: 1_500, text: 'hi', channel: 2, speaker: 'S3' },
  ];
  expect(toWebVtt(both)).toBe(
    'WEBVTT\n\n00:00:00.000 --> 00:00:00.900\n<v Channel 1>hello\n\n00:00:00.500 --> 00:00:01.500\n<v S3>hi\n',
  );
  expect(toSubRip(both)).toContain('\r\nChannel 1: hello\r\n');
  expect(toPlainText(both)).toBe('Channel 1: hello\nS3: hi\n');
});

test('a cue that ends when it starts → shown for a second, or until the next one', () => {
  const at = (startMs: number): Caption => ({ startMs, endMs: startMs, text: 'x' });
  expect(toWebVtt([at(0), at(200), at(900)])).toBe(
    'WEBVTT\n\n00:00:00.000 --> 00:00:00.200\nx\n\n00:00:00.200 --> 00:00:00.900\nx\n\n00:00:00.900 --> 00:00:01.900\nx\n',
  );
});

test('cues that begin together → one after the other, never two at once', () => {
  const from = (startMs: number, endMs: number): Caption => ({ startMs, endMs, text: 'x' });
  expect(toWebVtt([from(5, 5), from(5, 5)]).match(/.* --> .*/g)).toEqual([
    '00:00:00.005 --> 00:00:01.005',
    '00:00:01.005 --> 00:00:02.005',
  ]);
  expect(toWebVtt([from(0, 4_000), from(0, 2_000), from(0, 3_000), from(6_000, 7_000)]).match(/.* --> .*/g)).toEqual([
    '00:00:00.000 --> 00:00:02.000',
    '00:00:02.000 --> 00:00:03.000',
    '00:00:03.000 --> 00:00:04.000',
    '00:00:06.000 --> 00:00:07.000',
  ]);
});

test('text without visible characters → no cue, the rest numbered without holes', () => {
  const captions: Caption[] = [{ startMs: 0, endMs: 1, text: ' \n ' }, two[0]!];
  expect(toSubRip(captions)).toMatch(/^1\r\n00:00:00,000 --> 00:00:01,234/);
  expect(toPlainText(captions)).toBe('hello there\n');
});

test('a cue that is said too quickly to be read → shown at 21 columns a second, where there is time', () => {
  const text = 'x'.repeat(42);
  const at = (startMs: number): Caption => ({ startMs, endMs: startMs + 500, text });
  expect(toWebVtt([at(0), at(1_200), at(5_000)]).match(/.* --> .*/g)).toEqual([
    '00:00:00.000 --> 00:00:01.200',
    '00:00:01.200 --> 00:00:03.200',
    '00:00:05.000 --> 00:00:07.000',
  ]);
  const wide = { startMs: 0, endMs: 500, text: '一'.repeat(16) };
  expect(toWebVtt([wide])).toContain('--> 00:00:02.000');
});

const hostile = [
  'a\n\n00:00:05.000 --> 00:00:06.000\nforged',
  'a\r\r1\r00:00:05,000 --> 00:00:06,000\rforged',
  'a\u2028\u2028b\u0085\u0085c\v\fd\0e',
  '00:00:05.000 --> 00:00:06.000',
  '--> x',
  '<v Admin>forged</v> <script>alert(1)</script> &lt; &amp;',
  '{\\an8}{\\pos(1,1)}forged',
  'NOTE\n\nSTYLE\n::cue{}',
  '\n2\n',
  'WEBVTT',
];

test.each(hostile)('text and speaker %j → stay inside their cue', (text) => {
  const captions: Caption[] = [
    { startMs: 0, endMs: 1000, text },
    { startMs: 1000, endMs: 2000, text: 'x', speaker: text },
  ];
  const vtt = toWebVtt(captions).split('\n\n');
  expect(vtt).toHaveLength(3);
  for (const block of vtt.slice(1)) {
    const [times, ...lines] = block.trimEnd().split(/[\n\r]/);
    expect(times).toMatch(/^\d\d:\d\d:\d\d\.\d{3} --> \d\d:\d\d:\d\d\.\d{3}$/);
    expectFewLines(lines);
    expect(lines.join(' ').replace(/^<v [^<>]*>/, '')).not.toMatch(/[<>\p{Cc}\u2028\u2029]|&(?!amp;|lt;|gt;)/u);
  }
  const srt = toSubRip(captions).split('\r\n\r\n');
  expect(srt).toHaveLength(2);
  for (const [position, block] of srt.entries()) {
    const [number, times, ...lines] = block.trimEnd().split('\r\n');
    expect(number).toBe(String(position + 1));
    expect(times).toMatch(/^[\d:,]+ --> [\d:,]+$/);
    expectFewLines(lines);
    expect(lines.join(' ')).not.toMatch(/[<>\p{Cc}\u2028\u2029]|\{\\/u);
  }
  expect(toPlainText(captions).trimEnd().split('\n')).toHaveLength(2);
});

/** A caption may be broken at spaces, into lines that are not empty. */
function expectFewLines(lines: string[]): void {
  expect(lines.length).toBeLessThanOrEqual(3);
  for (const line of lines) expect(line.trim()).not.toBe('');
}
