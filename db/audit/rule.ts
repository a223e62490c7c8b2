import type { RawBuilder } from 'kysely';

/** Rows, and what must hold of each of them. They are read once for all their rules. */
export interface Rows {
  /** The part after `from` in a query. */
  from: RawBuilder<unknown>;
  /** How a row is named where it breaks a rule. */
  id: RawBuilder<unknown>;
  rules: Rule[];
}

export interface Rule {
  /** A name that never changes, for programs. */
  id: string;
  /** A sentence for people. */
  rule: string;
  /** Which of the rows it looks at; all of them without it. */
  of?: RawBuilder<unknown>;
  /** True for a row that breaks it. */
  breaks: RawBuilder<unknown>;
}
