/** What was typed is wrong. The message says what to type instead. */
export class Mistake extends Error {
  override readonly name = 'Mistake';
}
