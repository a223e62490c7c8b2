/** Bars on a terminal, as a person sees them at the end. */
import { Writable } from 'node:stream';
import { until } from '../../support/until.ts';
import { showBarsOn } from '../../../scripts/terminal/bars.ts';

/** So much of a terminal as bars use: it wraps lines, moves up, and clears a row or all below. */
class Window extends Writable {
  readonly isTTY = true;
  readonly columns: number;
  readonly #rows: string[] = [''];
  #row = 0;
  #column = 0;

  constructor(columns: number) {
    super();
    this.columns = columns;
  }

  get rows(): string[] {
    return this.#rows.map((row) => row.trimEnd()).filter((row) => row !== '');
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    for (const [code, count, kind] of chunk.toString().matchAll(/\x1b\[(\d*)(?:;\d+)?([A-Za-z])|[^\x1b]/gu))
      if (kind === undefined) this.#print(code);
      else this.#control(kind, Number(count));
    done();
  }

  #print(character: string): void {
    if (character === '\n' || this.#column === this.columns) {
      this.#row += 1;
      this.#column = 0;
      this.#rows[this.#row] ??= '';
    }
    if (character === '\n') return;
    const row = this.#rows[this.#row]!.padEnd(this.#column);
    this.#rows[this.#row] = row.slice(0, this.#column) + character + row.slice(this.#column + 1);
    this.#column += 1;
  }

  #control(kind: string, count: number): void {
    if (kind === 'A') this.#row = Math.max(0, this.#row - (count || 1));
    if (kind === 'G') this.#column = (count || 1) - 1;
    if (kind === 'K') this.#rows[this.#row] = count === 2 ? '' : this.#rows[this.#row]!.slice(0, this.#column);
    if (kind !== 'J') return;
    this.#rows[this.#row] = this.#rows[this.#row]!.slice(0, this.#column);
    this.#rows.length = this.#row + 1;
  }
}

test.each([60, 100, 200])(
  'messages wider than a window of %i columns, above several bars → nothing of a bar is left in them',
  async (columns) => {
    const window = new Window(columns);
    const { say, begin } = showBarsOn(window as never, false);
    const steps = ['one', 'two', 'three'].map((title) => begin(`Transcribing ${title}`, 100));
    // Of its second row, a bar would be seen behind five characters.
    const message = 'x'.repeat(columns + 5);
    const barsShown = () => window.rows.filter((row) => row.includes('%')).length;
    for (const [index, step] of steps.entries()) {
      await until(barsShown, (count) => count === steps.length, 10_000);
      say(message);
      await until(
        () => window.rows.filter((row) => row.includes('xxxxx')).length,
        (rows) => rows >= 2 * (index + 1),
        10_000,
      );
      step.reach(50);
    }
    for (const step of steps) step.end(true);
    const wrapped = ['x'.repeat(columns), 'xxxxx'];
    expect(window.rows).toEqual([...wrapped, ...wrapped, ...wrapped]);
  },
);
