/** Counts how much was said in which language. */
export class SpokenLanguages {
  readonly #characters = new Map<string, number>();

  add(language: string | undefined, text: string): void {
    if (language !== undefined) this.#characters.set(language, (this.#characters.get(language) ?? 0) + text.length);
  }

  /** The language of most of the text. */
  most(): string | undefined {
    return [...this.#characters].sort(([, a], [, b]) => b - a)[0]?.[0];
  }
}
