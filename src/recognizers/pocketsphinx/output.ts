import type { Word } from '../recognizer.ts';

/**
 * A line of PocketSphinx's `-time yes`: the word, its start and end in seconds from the start of the file, its
 * probability.
 */
const wordLine = /^(\S+) (\d+\.\d{3}) (\d+\.\d{3}) (\d+\.\d+|-?nan|-?inf)$/;

/** Fillers: utterance edges, silence, and noises such as `[NOISE]` or `++BREATH++`. */
const filler = /^(<.*>|\[.*\]|\+\+.*\+\+)$/;

/** `the(2)` is the second pronunciation of `the`. */
const pronunciation = /\(\d+\)$/;

export interface PocketSphinxOutput {
  /** Takes the next line of standard output. Throws when it can't have come from PocketSphinx. */
  line: (line: string) => void;
  /** After the last line: the words by utterance, without fillers. Throws when the last utterance is incomplete. */
  utterances: () => Word[][];
}

/**
 * Reads the output of `pocketsphinx_continuous -time yes`: for each utterance its text, then a line for each word in
 * it.
 * @param onUtterance gets the end of each utterance in ms
 */
export function readPocketSphinxOutput(onUtterance: (endMs: number) => void): PocketSphinxOutput {
  const utterances: Word[][] = [];
  let awaitsWord = false;
  return {
    line(line) {
      const match = wordLine.exec(line);
      // The text of an utterance only marks its beginning, because the words repeat it. Even an utterance of noise has
      // words: `<s>` and `</s>`.
      if (awaitsWord && !match) throw new Error('PocketSphinx printed something else than words');
      awaitsWord = !match;
      if (!match) {
        utterances.push([]);
        return;
      }
      const utterance = utterances.at(-1);
      if (!utterance) throw new Error('PocketSphinx printed a word before its utterance');
      const [, token = '', start, end, probability] = match;
      const [startMs, endMs] = [Math.round(Number(start) * 1000), Math.round(Number(end) * 1000)];
      if (token === '</s>') onUtterance(endMs);
      if (filler.test(token)) return;
      const text = token.replace(pronunciation, '');
      utterance.push({ startMs, endMs, text, ...confidenceOf(Number(probability)) });
    },
    utterances() {
      if (awaitsWord) throw new Error('PocketSphinx stopped in the middle of an utterance');
      return utterances;
    },
  };
}

/** Probabilities are sums of rounded logarithms, so a certain word may have 1.0002. */
function confidenceOf(probability: number): { confidence?: number } {
  return Number.isFinite(probability) ? { confidence: Math.min(1, Math.max(0, probability)) } : {};
}
