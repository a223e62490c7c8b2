/** What came out of the bench `reads`: where each work does worst is judged, and all of it is told. */
import { quantile, ratios, readable } from './statistics.ts';
import type { Check, Figures, Goal } from './bench.ts';
import type { Load } from './wrk.ts';

/** A load, and the CPU time that one request took, in µs. */
export interface Figure extends Load {
  nodeMicros: number;
  postgresMicros: number;
}

export type Work = 'list of 20' | 'one session' | 'transcript of 100 segments' | 'transcript poll, 304';
export type Owners = 'many accounts' | 'one account';
/** `one session` is ours too: what a 304 is compared with. */
export type Contender = 'ours' | 'bare' | 'Fastify' | 'equal work' | 'one session';

/** What is asked for, and by whom. */
export interface Cell {
  work: Work;
  owners: Owners;
  connections: number;
}

export interface Measured extends Cell {
  figures: Partial<Record<Contender, Figure[]>>;
}

const measures = {
  'requests/s': ({ perSecond }: Figure) => perSecond,
  p99: ({ p99Ms }: Figure) => p99Ms,
  CPU: ({ nodeMicros, postgresMicros }: Figure) => nodeMicros + postgresMicros,
};
type Measure = keyof typeof measures;

/** The goals of the project, for every work, number of connections and of accounts. What equal work costs is only told. */
const goals: [Measure, Contender, Goal | undefined][] = [
  ['requests/s', 'bare', { atLeast: 0.7, aim: 0.85 }],
  ['requests/s', 'Fastify', { atLeast: 1 }],
  ['requests/s', 'equal work', undefined],
  ['p99', 'bare', { atMost: 2 }],
  // A poll that brings nothing new asks as much as one for the session does.
  ['CPU', 'one session', { atMost: 1.1 }],
];

/** Round by round. */
function compared({ figures }: Measured, measure: Measure, other: Contender): number[] {
  const of = (name: Contender) => (figures[name] ?? []).map(measures[measure]);
  return ratios(of('ours'), of(other));
}

const median = (values: readonly number[]) => quantile(values, 0.5);

const countOf = ({ connections }: Cell) => (connections === 1 ? '1 connection' : `${connections} connections`);

/** Of each work, where it does worst. */
export function checksOf(measured: readonly Measured[]): Check[] {
  const works = Map.groupBy(measured, ({ work }) => work);
  return [...works].flatMap(([work, cells]) =>
    goals
      .filter(([, other]) => cells[0]!.figures[other] !== undefined)
      .map(([measure, other, goal]) => {
        const isLess = goal === undefined || 'atLeast' in goal;
        const from = cells
          .map((cell) => ({ cell, values: compared(cell, measure, other) }))
          .sort((a, b) => (median(a.values) - median(b.values)) * (isLess ? 1 : -1));
        const { cell, values } = from[0]!;
        return {
          work: `${work}, ${countOf(cell)}, ${cell.owners}`,
          measure: `${measure} ÷ ${other}`,
          values,
          ...(goal && { goal }),
        };
      }),
  );
}

const servers: Contender[] = ['ours', 'bare', 'Fastify', 'equal work'];

export function figuresOf(measured: readonly Measured[]): Figures[] {
  const tableOf = (title: string, head: string[], cellsOf: (cell: Measured) => (string | number)[]): Figures => ({
    title,
    head: ['work', 'of', 'connections', ...head],
    rows: measured.map((cell) => [cell.work, cell.owners, cell.connections, ...cellsOf(cell)]),
  });
  const medianOf = ({ figures }: Measured, name: Contender, value: (figure: Figure) => number) =>
    median(figures[name]!.map(value));
  const compare = (measure: Measure, others: Contender[]) => (cell: Measured) =>
    others.map((other) => median(compared(cell, measure, other)));
  return [
    tableOf('Ours ÷ theirs, medians of all rounds', ['÷ bare', '÷ Fastify', '÷ equal work', 'p99 ÷ bare'], (cell) => [
      ...compare('requests/s', ['bare', 'Fastify', 'equal work'])(cell),
      ...compare('p99', ['bare'])(cell),
    ]),
    tableOf('Requests/s, medians of all rounds', servers, (cell) =>
      servers.map((name) => Math.round(medianOf(cell, name, measures['requests/s']))),
    ),
    tableOf('µs of CPU for each request, of Node + PostgreSQL', servers, (cell) =>
      servers.map((name) =>
        [({ nodeMicros }: Figure) => nodeMicros, ({ postgresMicros }: Figure) => postgresMicros]
          .map((value) => readable(Math.round(medianOf(cell, name, value))))
          .join(' + '),
      ),
    ),
  ];
}
