interface Trouble {
  sufferers: Set<string>;
  whenOver: string | undefined;
}

/** Says a trouble once, however many recordings meet it and however often they are tried again. */
export class Troubles {
  readonly #say: (line: string) => void;
  readonly #met = new Map<string, Trouble>();

  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  /**
   * @param who which recording or folder meets it
   * @param whenOver what is said when nobody meets it any more
   */
  tell(who: string, trouble: string, whenOver?: string): void {
    if (!this.#met.has(trouble)) {
      this.#met.set(trouble, { sufferers: new Set(), whenOver });
      this.#say(trouble);
    }
    this.#met.get(trouble)!.sufferers.add(who);
  }

  over(who: string): void {
    for (const [trouble, { sufferers, whenOver }] of this.#met) {
      if (!sufferers.delete(who) || sufferers.size > 0) continue;
      this.#met.delete(trouble);
      if (whenOver !== undefined) this.#say(whenOver);
    }
  }
}
