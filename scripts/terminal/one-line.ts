/** The first character of the scripts, symbols and emoji of which many are two columns wide. */
const firstWide = 0x1100;
/** Blocks and lines, in which bars are drawn, are one column wide. */
const isDrawing = (code: number) => code >= 0x2010 && code <= 0x25ff;

/** Cuts a line, so that a terminal does not wrap it. Where the width of a character is not clear, it counts as two columns. */
export function cutToWidth(line: string, columns: number): string {
  let width = 0;
  let kept = '';
  for (const character of line) {
    const code = character.codePointAt(0)!;
    width += code < firstWide || isDrawing(code) ? 1 : 2;
    if (width > columns) return kept;
    kept += character;
  }
  return kept;
}

/** A text of others, such as a file's name, on one line and without characters that control the terminal. */
export const onOneLine = (text: string): string =>
  text.toWellFormed().replace(/[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu, '�');
