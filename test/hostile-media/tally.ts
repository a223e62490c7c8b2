/** The table for people: what became of the files of each kind. */
import type { EndedSession, SentFile } from './sending.ts';

const columns = ['tried', 'refused', 'completed', 'failed', 'lost', '500s', 'sockets', 'foreign files'] as const;

export type Counts = Record<(typeof columns)[number], number>;

export class Tally {
  readonly kinds = new Map<string, Counts>();

  of(kind: string): Counts {
    const counts = this.kinds.get(kind) ?? (Object.fromEntries(columns.map((column) => [column, 0])) as Counts);
    this.kinds.set(kind, counts);
    return counts;
  }

  count(kind: string, sent: SentFile, ended: EndedSession | undefined): void {
    const counts = this.of(kind);
    counts.tried += 1;
    if (sent.status >= 500) counts['500s'] += 1;
    else if (sent.status !== 202) counts.refused += 1;
    else if (ended?.status === 'completed') counts.completed += 1;
    else if (ended?.status === 'failed') counts.failed += 1;
    else counts.lost += 1;
  }

  total(column: (typeof columns)[number]): number {
    return [...this.kinds.values()].reduce((sum, counts) => sum + counts[column], 0);
  }

  /** Straight to the terminal: jest would put a stack trace to each line. */
  print(): void {
    const width = Math.max(...[...this.kinds.keys()].map((kind) => kind.length), 5);
    const line = (name: string, cells: readonly (string | number)[]) =>
      [name.padEnd(width), ...cells.map((cell, index) => String(cell).padStart(columns[index]!.length))].join('  ');
    const rows = [...this.kinds].map(([kind, counts]) => line(kind, Object.values(counts)));
    const all = line('all', columns.map((column) => this.total(column))); // prettier-ignore
    process.stdout.write(`${[line('', columns), ...rows, all].join('\n')}\n`);
  }
}
