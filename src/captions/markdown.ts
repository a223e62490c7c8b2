/** A transcript to read: CommonMark (https://spec.commonmark.org) with a heading, and paragraphs by speaker and pause. */
import { joinWords } from './lines.ts';
import { clock, oneLine, voiceOf, withText } from './formats.ts';
import type { Caption } from './formats.ts';

export interface Heading {
  title: string;
  /** When the recording was uploaded: RFC 3339, UTC. */
  createdAt: string;
  durationMs: number;
  warnings: readonly Warned[];
}

/** A warning of the contract. */
interface Warned {
  message: string;
  startMs?: number;
  endMs?: number;
}

/** Who pauses for so long begins a paragraph. */
const pauseMs = 2_000;
/** A paragraph ends with the segment that makes it this long. */
const longEnough = 600;

interface Paragraph {
  startMs: number;
  voice: string | undefined;
  texts: string[];
  endMs: number;
}

/**
 * The pieces of the text: the heading with what is to be known of the recording, then each paragraph with its time and,
 * where speakers or channels are known, who speaks.
 */
export function* markdown(
  { title, createdAt, durationMs, warnings }: Heading,
  captions: Iterable<Caption>,
): Generator<string> {
  yield `# ${escape(oneLine(title))}\n\n${createdAt.slice(0, 10)}, ${timeOf(durationMs)}\n`;
  if (warnings.length > 0) yield `\n${warnings.map((warning) => `> ${warned(warning)}\n`).join('>\n')}`;
  for (const { startMs, voice, texts } of paragraphsOf(captions)) {
    const who = voice === undefined ? '' : ` ${escape(voice)}`;
    yield `\n**${timeOf(startMs)}${who}** ${escape(joinWords(texts.map((text) => ({ text }))))}\n`;
  }
}

function warned({ message, startMs, endMs }: Warned): string {
  const where = startMs === undefined || endMs === undefined ? '' : `**${timeOf(startMs)} to ${timeOf(endMs)}** `;
  return `${where}${escape(message)}`;
}

function* paragraphsOf(captions: Iterable<Caption>): Generator<Paragraph> {
  let last: Paragraph | undefined;
  for (const { startMs, endMs, text, ...caption } of withText(captions)) {
    const voice = voiceOf(caption);
    if (last !== undefined && continues(last, startMs, voice)) {
      last.texts.push(text);
      last.endMs = endMs;
    } else {
      if (last !== undefined) yield last;
      last = { startMs, endMs, voice, texts: [text] };
    }
  }
  if (last !== undefined) yield last;
}

function continues({ voice, endMs, texts }: Paragraph, startMs: number, nextVoice: string | undefined): boolean {
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  return nextVoice === voice && startMs - endMs < pauseMs && length < longEnough;
}

/** Everything that may be markup within a line. Nothing that was said begins a line. */
const escape = (text: string): string => text.replace(/[\\`*_[\]<>&#|~]/g, '\\$&');

/** `h:mm:ss` */
const timeOf = (ms: number): string => clock(ms, '.').replace(/^0|\..*$/g, '');
