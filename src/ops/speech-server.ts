/** What `/metrics` shows of the server that hears the recordings, where one does. */
import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';

/** How a request to a server ended. `refused`: it may not be repeated as it is. `broken`: no answer that makes sense. */
export type RequestOutcome = 'transcribed' | 'busy' | 'timed_out' | 'refused' | 'broken';

export interface ServerLoad {
  /** Requests that it gets at once. */
  limit: number;
  inFlight: number;
  /** Pieces that wait here. */
  waiting: number;
  /** Seconds of audio per second, when it was last busy; undefined where nobody knows. */
  speed: number | undefined;
  /** How many have ended. What a stopped job had asked for counts nowhere. */
  requests: Readonly<Record<RequestOutcome, number>>;
}

export class SpeechServerMetrics {
  #load: (() => ServerLoad) | undefined;

  constructor(registry: Registry) {
    const gauge = (name: string, help: string, valueOf: (load: ServerLoad) => number | undefined) => {
      const load = () => this.#load?.();
      new Gauge({
        name: `transcription_speech_server_${name}`,
        help,
        registers: [registry],
        collect() {
          const now = load();
          const value = now && valueOf(now);
          this.remove();
          if (value !== undefined) this.set(value);
        },
      });
    };
    gauge('limit', 'Requests that the speech server gets at once, as found by trying', ({ limit }) => limit);
    gauge('in_flight', 'Requests that the speech server has now', ({ inFlight }) => inFlight);
    gauge('waiting', 'Pieces of recordings that wait here for the speech server', ({ waiting }) => waiting);
    gauge(
      'speed',
      'Seconds of audio that the speech server heard per second when it was last busy; pieces below 30 s count as 30 s',
      ({ speed }) => speed,
    );
    const requests = (): Partial<ServerLoad['requests']> => this.#load?.().requests ?? {};
    new Counter({
      name: 'transcription_speech_server_requests_total',
      help: 'Requests to the speech server that ended, by how',
      labelNames: ['outcome'],
      registers: [registry],
      collect() {
        this.reset();
        for (const [outcome, count] of Object.entries(requests())) this.inc({ outcome }, count);
      },
    });
  }

  /** Shows this server from now on. */
  show(load: () => ServerLoad): void {
    this.#load = load;
  }
}
