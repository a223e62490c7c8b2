import { RecognizerError } from '../recognizer.ts';

/**
 * Python's `json` writes these for numbers, and JSON has none of them. What a text between quotation marks holds is
 * left alone.
 */
const textOrNoNumber = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\b(?:NaN|Infinity)\b/g;

/**
 * Reads the body of an answer, whatever the server calls it. Numbers that are none become null.
 * @param host for the message
 * @throws {RecognizerError} it is no JSON; without quoting it, because it may hold what was said. A server that ignores
 *   what it is asked for does so again
 */
export function readBody(text: string, type: string, host: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    try {
      return JSON.parse(text.replace(textOrNoNumber, (found) => (found.startsWith('"') ? found : 'null')));
    } catch {
      const { form, retryable } = formOf(text, type);
      throw new RecognizerError('recognizer_error', `${host} answered ${form}`, { retryable });
    }
  }
}

function formOf(text: string, type: string): { form: string; retryable: boolean } {
  if (/^text\/event-stream\b/.test(type)) return { form: 'a stream of events instead of JSON', retryable: false };
  const isPlain = /^text\/plain\b/.test(type) && text.trim() !== '';
  if (isPlain) return { form: 'plain text instead of JSON', retryable: false };
  return { form: 'something else than JSON', retryable: true };
}
