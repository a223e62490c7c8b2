/** What can't be done. The message says why, in a sentence or two for the person at the terminal. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** What was typed is wrong. The message says what to type instead. */
export class Mistake extends Error {
  override readonly name = 'Mistake';
}
