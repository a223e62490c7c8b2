/**
 * Statements of the paths that are used most. Kysely builds and compiles each once, and each connection plans it once.
 * `npm run bench -- reads` shows what they cost.
 */
import { isPool, runNamed } from './database.ts';
import type { Compilable, CompiledQuery } from 'kysely';
import type { Queryable } from './database.ts';

/** Stands for a value while a statement is built. */
class Parameter {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** Takes the place of a value while a statement is built. Its type is that of the value, because Kysely asks for it. */
export type ParameterOf<Values> = <Name extends keyof Values & string>(name: Name) => Values[Name];

export class NamedQuery<Values extends object, Row extends object> {
  readonly #name: string;
  readonly #build: (db: Queryable, parameter: ParameterOf<Values>) => Compilable<Row>;
  #compiled: CompiledQuery<Row> | undefined;

  /** @param name names the statement for PostgreSQL, so each statement needs another one */
  constructor(name: string, build: (db: Queryable, parameter: ParameterOf<Values>) => Compilable<Row>) {
    this.#name = name;
    this.#build = build;
  }

  async run(db: Queryable, values: Values): Promise<Row[]> {
    if (!isPool(db)) return (await db.executeQuery(this.#build(db, (name) => values[name]).compile())).rows;
    this.#compiled ??= this.#build(db, ((name: string) => new Parameter(name)) as never).compile();
    const { sql, parameters, query } = this.#compiled;
    const given = parameters.map((parameter) =>
      parameter instanceof Parameter ? values[parameter.name as keyof Values] : parameter,
    );
    // A statement after `with` may write.
    const isRead = query.kind === 'SelectQueryNode' && query.with === undefined;
    return runNamed(db, { name: this.#name, text: sql, values: given }, { isRead });
  }
}
