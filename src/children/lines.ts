import { StringDecoder } from 'node:string_decoder';

/** In characters. No tool that we run prints longer lines. Without a bound, a broken tool would fill our memory. */
const longestLine = 65_536;
/** Four hours of quick speech are 2 MiB of words with their times. */
const maxBytes = 8 * 1024 * 1024;

export interface LineSplitter {
  /** For `ChildOptions.onStdout`. Throws when a line is too long, or when the whole output is larger than 8 MiB. */
  push: (chunk: Buffer) => void;
  /** Hands over the last line if it had no line break. */
  end: () => void;
}

/** Cuts UTF-8 output that comes in chunks into lines without their line breaks. */
export function splitLines(onLine: (line: string) => void, longest = longestLine): LineSplitter {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let bytes = 0;
  return {
    push(chunk) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new Error('there is no end of output');
      const lines = (rest + decoder.write(chunk)).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > longest) throw new Error('a line of output is too long');
      lines.forEach(onLine);
    },
    end() {
      const last = rest + decoder.end();
      rest = '';
      if (last !== '') onLine(last);
    },
  };
}
