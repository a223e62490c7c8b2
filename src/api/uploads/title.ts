const maxCharacters = 255;

/**
 * The title of a session.
 * @param title of the form; where nothing of it can be seen, the file's name counts
 * @param fileName without folder and extension it is the title; "Untitled" stands for none
 */
export function titleOf(title: string | undefined, fileName: string): string {
  if (title !== undefined && visible(title) !== '') return visible(title);
  const name = visible(fileName.split(/[/\\]/).pop()!)
    .replace(/\.[^.\s]{1,16}$/u, '')
    .trim();
  return /^\.*$/.test(name) ? 'Untitled' : [...name].slice(0, maxCharacters).join('').trim();
}

/** Without control characters, and without the invisible ones that turn the direction of the text around them. */
const visible = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '')
    .trim();
