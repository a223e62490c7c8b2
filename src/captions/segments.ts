import { endsSentence } from './breaths.ts';
import { cutIntoCaptions } from './cuts.ts';
import { alignToSpeech } from './align-to-speech.ts';
import { joinWords, splitWords, joinedByScript, wordSegmenter, hasUnspaced } from './lines.ts';
import type { Stretch } from './align-to-speech.ts';
import type { Segment, SpokenWord } from './segment.ts';

/**
 * Cuts words into segments that can be read as captions: at the ends of utterances and as `cutIntoCaptions` does.
 * @param utterances words with times in ms, by utterance, in any order
 * @param durationMs length of the audio; times are clamped to it
 * @returns sorted, numbered from 0, with integer times `0 ≤ startMs ≤ endMs ≤ durationMs` and text that isn't empty.
 *   Confidence is the mean of the words that have one, with 4 decimals.
 */
export function segmentsFromUtterances(utterances: readonly (readonly SpokenWord[])[], durationMs: number): Segment[] {
  const sorted = utterances
    .map((words) => intoWords(usableWords(words)))
    .filter((words) => words.length > 0)
    .sort((a, b) => a[0]!.startMs - b[0]!.startMs);
  return withoutOverlaps(sorted, durationMs).flatMap(cutIntoCaptions).map(toSegment);
}

/**
 * As `segmentsFromUtterances`, for recognizers that don't say when each word was spoken. A long text is cut into
 * captions, which lie over speech. These segments have no words, because their times are unknown.
 * @param spokenIn speech within a stretch, in order
 */
export function segmentsFromTexts(
  texts: readonly SpokenWord[],
  durationMs: number,
  spokenIn: (stretch: Stretch) => readonly Stretch[],
): Segment[] {
  const spoken = texts.map(({ startMs, endMs }) => {
    const found = spokenIn({ startMs, endMs });
    return found.length > 0 ? found : [{ startMs, endMs }];
  });
  const goesOn = spoken.map((own, index) => {
    const pauseMs = (spoken[index + 1]?.[0]!.startMs ?? Infinity) - own.at(-1)!.endMs;
    return pauseMs < longestPauseInSentenceMs && texts[index]!.speaker === texts[index + 1]!.speaker;
  });
  const written = withoutSeams(
    texts.map(({ text }) => text.trim()),
    goesOn,
  );
  const utterances = texts.map(({ text: _text, ...rest }, index) => {
    const words = splitWords(written[index]!);
    const times = alignToSpeech(words, spoken[index]!);
    return words.map((word, place) => ({ ...rest, ...word, ...times[place]! }));
  });
  return segmentsFromUtterances(utterances, durationMs).map((segment) => ({ ...segment, words: [] }));
}

/** In lectures. Behind a longer one, something else begins, whatever marks the text ends with. */
const longestPauseInSentenceMs = 3_000;

/** Without NUL and halves of characters: PostgreSQL stores neither, and speech servers cut bytes apart. */
const storable = (text: string): string => text.replace(/[\0\p{Surrogate}]/gu, '').trim();

const usableWords = (words: readonly SpokenWord[]): SpokenWord[] =>
  words
    .map((word) => ({ ...word, text: storable(word.text) }))
    .filter(({ text }) => text !== '')
    .sort((a, b) => a.startMs - b.startMs);

/** Overlapping words would make overlapping captions, and players show these on top of each other. */
function withoutOverlaps(utterances: readonly SpokenWord[][], durationMs: number): SpokenWord[][] {
  let earliest = 0;
  const notBefore = (ms: number) => (earliest = Math.max(earliest, Math.min(durationMs, Math.round(ms))));
  return utterances.map((words) =>
    words.map((word) => ({
      ...word,
      startMs: notBefore(word.startMs),
      endMs: notBefore(word.endMs),
      ...roundedConfidence(word.confidence),
    })),
  );
}

function toSegment(words: SpokenWord[], index: number): Segment {
  const confidences = words.flatMap((word) => word.confidence ?? []);
  const mean = confidences.reduce((sum, confidence) => sum + confidence, 0) / confidences.length;
  const speaker = words[0]!.speaker;
  return {
    index,
    startMs: words[0]!.startMs,
    endMs: words.at(-1)!.endMs,
    text: joinWords(words),
    ...(confidences.length > 0 && roundedConfidence(mean)),
    ...(speaker !== undefined && { speaker }),
    words: words.map(({ speaker: _speaker, afterSpace: _afterSpace, ...word }) => word),
  };
}

function roundedConfidence(confidence: number | undefined): { confidence?: number } {
  return confidence === undefined ? {} : { confidence: Math.round(confidence * 10_000) / 10_000 };
}

/**
 * Recognizers cut scripts without spaces into characters, or into parts of them, and people read words: joins the tokens of
 * words in scripts without spaces (Unicode Standard Annex 29, as `Intl.Segmenter` knows it). A mark
 * that stands alone is joined to what it closes.
 * @param tokens of an utterance, in order
 */
function intoWords(tokens: readonly SpokenWord[]): SpokenWord[] {
  if (!tokens.some(({ text }) => hasUnspaced(text))) return [...tokens];
  const offsets: number[] = [];
  const text = tokens.reduce((before, token, index) => {
    const after = before + joinedByScript(before, token);
    offsets[index] = after.length - token.text.length;
    return after;
  }, '');
  const starts = new Set([...wordSegmenter.segment(text)].map(({ index }) => index));
  const words: SpokenWord[] = [];
  tokens.forEach((token, index) => {
    const last = words.at(-1);
    const offset = offsets[index]!;
    const isNext = offset === 0 || /\s/.test(text[offset - 1]!) || !(hasUnspaced(text[offset - 1]!) || hasUnspaced(text[offset]!)); // prettier-ignore
    const isRest = !isNext && (!starts.has(offset) || isClosing(token.text));
    if (last !== undefined && isRest && last.speaker === token.speaker) words[words.length - 1] = asOne(last, token);
    else words.push(token);
  });
  return words;
}

const isClosing = (text: string) => !/[\p{L}\p{N}\p{M}\p{Ps}\p{Pi}]/u.test(text);

function asOne(first: SpokenWord, second: SpokenWord): SpokenWord {
  const confidences = [first, second].flatMap(({ confidence }) => confidence ?? []);
  return {
    ...first,
    text: first.text + second.text,
    endMs: Math.max(first.endMs, second.endMs),
    ...(confidences.length > 0 && { confidence: Math.min(...confidences) }),
  };
}

/**
 * Makes one text of those of chunks, each of which was heard as a whole one. Where the speaker went on, a full stop before
 * a small letter goes, and a capital that begins no sentence is made small, if the word is written small elsewhere and is
 * nowhere a name. Quotation marks without their other half go.
 * @param goesOn of each chunk, whether the next one follows without the pause of a sentence
 */
export function withoutSeams(chunks: readonly string[], goesOn: readonly boolean[]): string[] {
  const whole = chunks.join('\n');
  const small = new Set(whole.match(/(?<![\p{L}'’])\p{Ll}[\p{L}'’]*/gu));
  const names = new Set(whole.match(/(?<=[\p{L},] )\p{Lu}[\p{L}'’]*/gu));
  return chunks.map((text, index) => {
    let own = inPairs(text);
    if (goesOn[index] && /^\p{Ll}/u.test(chunks[index + 1] ?? '')) own = own.replace(/(?<=[\p{Ll}\p{N}])\.$/u, '');
    const [first = ''] = /^\p{Lu}[\p{L}'’]*/u.exec(own) ?? [];
    const isInSentence = goesOn[index - 1] === true && !endsSentence(chunks[index - 1]!, first);
    return isInSentence && small.has(first.toLowerCase()) && !names.has(first)
      ? first.toLowerCase() + own.slice(first.length)
      : own;
  });
}

/** Without straight quotation marks that open and never close, or close what was not opened; `6"` stays. */
function inPairs(text: string): string {
  const odd = new Set<number>();
  let open: number | undefined;
  for (const { index } of text.matchAll(/"/g)) {
    const isOpening = /(^|[\s(—–-])$/u.test(text.slice(0, index));
    if (isOpening && open !== undefined) odd.add(open);
    if (!isOpening && open === undefined && !/\p{N}$/u.test(text.slice(0, index))) odd.add(index);
    open = isOpening ? index : undefined;
  }
  if (open !== undefined) odd.add(open);
  return text.replace(/"/g, (mark, index: number) => (odd.has(index) ? '' : mark));
}
