const maxCharacters = 255;

/** The title of a session: the uploaded file's name without folder, extension and control characters. */
export function titleOf(fileName: string): string {
  const base = fileName.split(/[/\\]/).pop()!;
  const name = base
    .toWellFormed()
    // Control characters, also the invisible ones that turn the direction of text.
    .replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '')
    .replace(/\.[^.\s]{1,16}$/u, '')
    .trim();
  return /^\.*$/.test(name) ? 'Untitled' : [...name].slice(0, maxCharacters).join('').trim();
}
