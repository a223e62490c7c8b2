/** Makes people of turns and voices. A model finds more voices than people: one for each way in which somebody speaks, and scraps. */
import { laterBy, totalMs, without } from '../../audio/spans.ts';
import type { Chunk, Span } from '../../audio/chunks.ts';
import type { WindowResult } from './messages.ts';

/** Somebody speaks. Times are ms from the start of the recording. */
export interface Turn extends Span {
  /** The same number for the same speaker, throughout the recording. */
  speaker: number;
}

/** Who was heard in a window of a recording. */
export interface DiarizedWindow {
  chunk: Chunk;
  result: WindowResult;
}

/** More can't be told apart. So the work of comparing all of them is bounded, however long a recording is. */
const mostPeople = 100;

/**
 * Finds the people of a recording by the voices of its windows.
 * @param windows in order of time
 * @param most how many people speak at the most
 * @returns in order of time
 */
export function joinWindows(windows: readonly DiarizedWindow[], most = mostPeople): Turn[] {
  const known = windows.reduce<Voice[]>(
    (before, window) => joinAlike([...before, ...voicesOf(window)], mostPeople),
    [],
  );
  const people = joinAlike(absorbScraps(known), most);
  return people
    .flatMap(({ turns }, speaker) => turns.map((turn) => ({ ...turn, speaker })))
    .sort((a, b) => a.startMs - b.startMs);
}

const voicesOf = ({ chunk, result }: DiarizedWindow): Voice[] =>
  result.speakers.map(({ turns, embedding }) => ({
    turns: turns.map(([startMs, endMs]) => laterBy(chunk.windowStartMs, { startMs, endMs })),
    likeness: likenessOf(embedding),
  }));

function likenessOf(embedding: string): Float32Array {
  const bytes = Buffer.from(embedding, 'base64');
  return normalized(Float32Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4)));
}

/** Times are ms from the start of the recording. */
export interface Voice {
  turns: readonly Span[];
  /** What it is like: a vector of length 1, except for a voice that can not be known. */
  likeness: Float32Array;
}

/**
 * The cosine similarity from which two voices are one person's. Measured with CAM++ on meetings of seven voices: those of
 * two people were alike by up to 0.70 (by telephone), those of one person by 0.79 and more.
 */
const samePerson = 0.72;
/** What less speech is like tells nothing about who speaks. */
const leastMs = 3_000;

/**
 * Joins the two voices that are most alike, and again, while two are alike enough or there are too many.
 * @param most of two that are not alike, the one that speaks less is taken for the other, from which nothing is learnt
 */
export function joinAlike(voices: readonly Voice[], most = Infinity): Voice[] {
  const known = [...voices];
  for (;;) {
    const closest = closestOf(known);
    if (closest === undefined) return known;
    const { first, second, similarity } = closest;
    const areAlike = similarity >= samePerson;
    if (!areAlike && known.length <= most) return known;
    const other = known.splice(second, 1)[0]!;
    known[first] = areAlike ? joined(known[first]!, other) : swallowed(known[first]!, other);
  }
}

/** Gives what speaks for less than 3 s to the voice that is most like it. If nothing speaks for longer, all stay. */
export function absorbScraps(voices: readonly Voice[]): Voice[] {
  const [known, scraps] = [[] as Voice[], [] as Voice[]];
  for (const voice of voices) (totalMs(voice.turns) < leastMs ? scraps : known).push(voice);
  if (known.length === 0) return scraps;
  for (const scrap of scraps) {
    const similarities = known.map((voice) => similarityOf(voice, scrap));
    const nearest = similarities.indexOf(Math.max(...similarities));
    known[nearest] = { ...known[nearest]!, turns: [...known[nearest]!.turns, ...scrap.turns] };
  }
  return known;
}

function closestOf(voices: readonly Voice[]) {
  let closest: { first: number; second: number; similarity: number } | undefined;
  for (let second = 1; second < voices.length; second += 1) {
    for (let first = 0; first < second; first += 1) {
      const similarity = similarityOf(voices[first]!, voices[second]!);
      if (closest === undefined || similarity > closest.similarity) closest = { first, second, similarity };
    }
  }
  return closest;
}

/** A voice counts by how long it speaks. */
function joined(one: Voice, other: Voice): Voice {
  const [ms, otherMs] = [totalMs(one.turns), totalMs(other.turns)];
  const sum = one.likeness.map((value, index) => value * ms + other.likeness[index]! * otherMs);
  return { turns: [...one.turns, ...other.turns], likeness: normalized(sum) };
}

function swallowed(one: Voice, other: Voice): Voice {
  const { likeness } = totalMs(other.turns) > totalMs(one.turns) ? other : one;
  return { turns: [...one.turns, ...other.turns], likeness };
}

/** @returns the cosine; -1 for a voice that can not be known */
function similarityOf({ likeness: one }: Voice, { likeness: other }: Voice): number {
  let cosine = 0;
  for (let index = 0; index < one.length; index += 1) cosine += one[index]! * other[index]!;
  return Number.isNaN(cosine) ? -1 : cosine;
}

function normalized(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

/** Those who begin before another ends, but no earlier than this, speak one after the other: turns are off by a little. */
const longestOverlapMs = 200;

/**
 * Finds where one person stops and another goes on: the middle of the pause between them. Where people speak at the same
 * time, nothing changes.
 * @param turns in order of time
 * @returns in order
 */
export function changesIn(turns: readonly Turn[]): number[] {
  const changes: number[] = [];
  let last: Turn | undefined;
  for (const turn of turns) {
    if (last !== undefined && turn.speaker !== last.speaker && last.endMs - turn.startMs <= longestOverlapMs)
      changes.push(Math.round((last.endMs + turn.startMs) / 2));
    if (last === undefined || turn.endMs > last.endMs) last = turn;
  }
  return changes;
}

/** Where voices can't be told apart at all, there seem to be hundreds of speakers, more than an answer has room for. */
const mostOfWindow = 100;
/** More speech does not describe a voice better. */
const mostMsToKnow = 30_000;
/** With less clear speech, speech that is mixed with other voices is used, too. */
const leastClearMs = 500;

/** @returns the turns of each speaker, those of the speaker who speaks most first; at most 100 speakers */
export function turnsBySpeaker<T extends Span & { speaker: number }>(turns: readonly T[]): T[][] {
  const speakers = [...Map.groupBy(turns, ({ speaker }) => speaker).values()];
  return speakers.sort((a, b) => totalMs(b) - totalMs(a)).slice(0, mostOfWindow);
}

/**
 * Of a window, chooses the speech by which a voice is recognized: the speaker's own turns, the longest first, without the parts
 * where others speak, if enough is left.
 * @returns half a minute at the most
 */
export function speechToKnow(own: readonly Span[], others: readonly Span[]): Span[] {
  const clear = without(own, others);
  const usable = totalMs(clear) >= leastClearMs ? clear : [...own];
  usable.sort((a, b) => b.endMs - b.startMs - (a.endMs - a.startMs));
  let restMs = mostMsToKnow;
  return usable.flatMap(({ startMs, endMs }) => {
    const span = { startMs, endMs: Math.min(endMs, startMs + restMs) };
    restMs -= span.endMs - span.startMs;
    return span.startMs < span.endMs ? [span] : [];
  });
}

/** A word that no turn covers gets the speaker of the nearest turn within this time. Chosen, not measured. */
const reachMs = 500;

/**
 * Gives each word the speaker who speaks most of its time; where words have no times, each segment. Of two who speak
 * equally much, it is the speaker of the part before. Without speech within half a second, there is no speaker.
 * @param parts in order of time
 * @param turns in order of time
 */
export function withSpeakers<P extends Span>(
  parts: readonly P[],
  turns: readonly Turn[],
): (P & { speaker?: string })[] {
  let next = 0;
  let near: Turn[] = [];
  let last: number | undefined;
  return parts.map((part) => {
    while (next < turns.length && turns[next]!.startMs <= part.endMs + reachMs) near.push(turns[next++]!);
    near = near.filter(({ endMs }) => endMs >= part.startMs - reachMs);
    last = speakerOf(part, near, last);
    return last === undefined ? part : { ...part, speaker: String(last) };
  });
}

function speakerOf(part: Span, near: readonly Turn[], last: number | undefined): number | undefined {
  /** Of each speaker: how long they speak in it, in ms; of one who doesn't, how far away they do, below 0. */
  const spokenMs = new Map<number, number>();
  for (const turn of near) {
    const ms = sharedMs(part, turn);
    const before = spokenMs.get(turn.speaker) ?? -Infinity;
    if (ms >= -reachMs) spokenMs.set(turn.speaker, ms > 0 ? Math.max(0, before) + ms : Math.max(before, ms));
  }
  return spokenMs.size > 0 ? mostOf(spokenMs, last) : undefined;
}

/** Below 0 where they don't touch. */
const sharedMs = (a: Span, b: Span) => Math.min(a.endMs, b.endMs) - Math.max(a.startMs, b.startMs);

function mostOf(values: ReadonlyMap<number, number>, preferred: number | undefined): number {
  const most = Math.max(...values.values());
  if (preferred !== undefined && values.get(preferred) === most) return preferred;
  return [...values].find(([, value]) => value === most)![0];
}
