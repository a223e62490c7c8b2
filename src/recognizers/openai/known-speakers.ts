/** Speakers of a recording that is sent in several chunks: the voices of one chunk are shown with all later ones. */
import { totalMs } from '../../audio/spans.ts';
import { encodeChunk } from './encode-chunk.ts';
import type { Chunk, Span } from '../../audio/chunks.ts';
import type { SpokenWord } from '../../captions/segment.ts';
import type { AnsweredChunk } from './server-answers.ts';

/** A speaker of an earlier chunk. */
export interface KnownSpeaker {
  /** What the voice was called there. */
  label: string;
  /** What it is asked to call the voice from now on. Servers don't invent such a name. */
  name: string;
  /** The voice, as a data URL. */
  sample: string;
}

/** OpenAI takes samples of 2 to 10 s, of at most four people. */
const sampleMs = { shortest: 2_000, longest: 8_000 };
const mostSpeakers = 4;
const longestPauseMs = 500;

/** The first chunk in which something was said. */
export interface VoiceSamples {
  chunk: Chunk;
  /** Those whose voices could be sampled. */
  speakers: readonly KnownSpeaker[];
}

/**
 * Takes a sample of each voice of a chunk that speaks alone for long enough. Those who speak most come first.
 * @param file 16 kHz mono s16le, of the whole recording
 * @throws what `encodeChunk` throws
 */
export async function sampleVoices(file: string, { utterances }: AnsweredChunk): Promise<KnownSpeaker[]> {
  const known: KnownSpeaker[] = [];
  for (const { label, startMs, endMs } of longestTurns(utterances.flat())) {
    if (known.length === mostSpeakers) break;
    if (endMs - startMs < sampleMs.shortest) continue;
    const windowEndMs = Math.min(startMs + sampleMs.longest, endMs);
    const audio = await encodeChunk(file, { windowStartMs: startMs, windowEndMs });
    if (audio === undefined) continue;
    const sample = `data:${audio.type};base64,${Buffer.from(await audio.arrayBuffer()).toString('base64')}`;
    known.push({ label, name: `known-${known.length + 1}`, sample });
  }
  return known;
}

/** The longest turn of each speaker; the one who speaks most comes first. */
function longestTurns(words: readonly SpokenWord[]): Turn[] {
  const lengthOf = ({ startMs, endMs }: Span) => endMs - startMs;
  return [...Map.groupBy(turnsOf(words), ({ label }) => label).values()]
    .sort((a, b) => totalMs(b) - totalMs(a))
    .map((own) => own.reduce((longest, turn) => (lengthOf(turn) > lengthOf(longest) ? turn : longest)));
}

interface Turn extends Span {
  label: string;
}

/** @returns where one person speaks alone, without a longer pause */
function turnsOf(words: readonly SpokenWord[]): Turn[] {
  const turns: Turn[] = [];
  let spokenToMs = 0;
  for (const { speaker, startMs, endMs } of words) {
    const last = turns.at(-1);
    if (last !== undefined && last.label === speaker && startMs - last.endMs <= longestPauseMs) {
      last.endMs = Math.max(last.endMs, endMs);
    } else {
      // Where two speak at once, a sample would have both voices.
      if (last !== undefined) last.endMs = Math.min(last.endMs, startMs);
      if (speaker !== undefined) turns.push({ label: speaker, startMs: Math.max(startMs, spokenToMs), endMs });
    }
    spokenToMs = Math.max(spokenToMs, endMs);
  }
  return turns;
}

/**
 * A server calls a voice `A` in one chunk, and another one in the next, unless it was told the name.
 * @returns the chunk with names that no other chunk has, but for those that are known
 */
export function withOwnNames(heard: AnsweredChunk, known: readonly KnownSpeaker[] = []): AnsweredChunk {
  const isKnown = (label: string) => known.some(({ name }) => name === label);
  return renamed(heard, (label) => (isKnown(label) ? label : `${ownPrefix(heard.chunk)}${label}`));
}

/** The beginning of a chunk that is recognized once more is another chunk. */
const ownPrefix = ({ startMs, endMs }: Chunk) => `${startMs}-${endMs} `;

/**
 * Gives the voices of the first chunk the names by which they are known in the others.
 * @param heard chunks {@link withOwnNames}
 * @returns chunks without speakers where the server took no notice of the samples: its `A` may be anybody
 */
export function withLastingNames(heard: readonly AnsweredChunk[], introduction: VoiceSamples | undefined) {
  const { chunk: first, speakers = [] } = introduction ?? {};
  const nameOf = new Map(speakers.map(({ label, name }) => [label, name]));
  const names = new Set(nameOf.values());
  const labels = heard.flatMap(({ utterances }) => utterances.flat().flatMap(({ speaker }) => speaker ?? []));
  const isIgnored =
    labels.some((label) => !first || !label.startsWith(ownPrefix(first))) && !labels.some((label) => names.has(label));
  return heard.map((each) => renamed(each, (label) => (isIgnored ? undefined : (nameOf.get(label) ?? label))));
}

function renamed(heard: AnsweredChunk, nameOf: (label: string) => string | undefined): AnsweredChunk {
  const rename = ({ speaker: label, ...word }: SpokenWord): SpokenWord => {
    const speaker = label === undefined ? undefined : nameOf(label);
    return { ...word, ...(speaker !== undefined && { speaker }) };
  };
  return { ...heard, utterances: heard.utterances.map((words) => words.map(rename)) };
}
