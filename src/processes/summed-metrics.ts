/** The metrics of all processes as those of one. */
import { AggregatorRegistry, Counter, Registry, collectDefaultMetrics } from 'prom-client';
import type { Half } from './child.ts';
import type { Figures } from './questions.ts';

/** Of these, what a process that is gone had counted still counts. A sum that falls would mean that all began anew. */
const lasting = new Set<unknown>(['counter', 'histogram']);

export class SummedMetrics {
  /** The master's own. */
  readonly #registry = new Registry();
  /** What processes that are gone showed last. */
  #departed: Figures = [];

  readonly #restarts = new Counter({
    name: 'transcription_process_restarts_total',
    help: 'Processes that ended without being asked to and were started again, by half',
    labelNames: ['half'],
    registers: [this.#registry],
  });

  constructor() {
    collectDefaultMetrics({ register: this.#registry, eventLoopMonitoringPrecision: 100 });
    for (const half of ['api', 'worker'] as const) this.#restarts.inc({ half }, 0);
  }

  countRestart(half: Half): void {
    this.#restarts.inc({ half });
  }

  /** @param figures of a process that is gone */
  keep(figures: Figures): void {
    this.#departed = sumOf([this.#departed, figures.filter(({ type }) => lasting.has(type))]);
  }

  /**
   * In Prometheus' text format.
   * @param living what the others show, asked for when nothing is awaited any more: who departs meanwhile must not
   *   count twice
   */
  async text(living: () => Figures[]): Promise<string> {
    const own = await this.#registry.getMetricsAsJSON();
    return AggregatorRegistry.aggregate([own.map(asOfAll), ...living(), this.#departed]).metrics();
  }
}

const sumOf = (all: Figures[]): Figures => AggregatorRegistry.aggregate(all).getMetricsAsArray() as unknown as Figures;

/** The service began when its master began. prom-client would leave that out. */
const asOfAll = (figure: Figures[number]): Figures[number] =>
  figure.name === 'process_start_time_seconds' ? { ...figure, aggregator: 'first' } : figure;
