/** What `/metrics` shows of the speech server. */
import { Counter } from 'prom-client';
import { show } from './readings.ts';
import type { Registry } from 'prom-client';

/** How a request to a server ended. `refused`: it may not be repeated as it is. `broken`: no answer that makes sense. */
export type RequestOutcome = 'transcribed' | 'busy' | 'timed_out' | 'refused' | 'broken';

export interface ServerLoad {
  limit: number;
  inFlight: number;
  waiting: number;
  /** Seconds of audio per second, when it was last busy; undefined: unknown. */
  speed: number | undefined;
  /** How many have ended. What a stopped job had asked for counts nowhere. */
  requests: Readonly<Record<RequestOutcome, number>>;
}

const gauges: [string, string, (load: ServerLoad) => number | undefined][] = [
  ['limit', 'Requests that the speech server gets at once, as found by trying', ({ limit }) => limit],
  ['in_flight', 'Requests that the speech server has now', ({ inFlight }) => inFlight],
  ['waiting', 'Chunks of recordings that wait here for the speech server', ({ waiting }) => waiting],
  [
    'speed',
    'Seconds of audio that the speech server heard per second when it was last busy; chunks below 30 s count as 30 s',
    ({ speed }) => speed,
  ],
];

/** @param read undefined without a speech server: then nothing is shown */
export function showSpeechServer(registry: Registry, read: () => ServerLoad | undefined): void {
  for (const [name, help, valueOf] of gauges)
    show(registry, `transcription_speech_server_${name}`, help, async () => {
      const load = read();
      return load && valueOf(load);
    });
  new Counter({
    name: 'transcription_speech_server_requests_total',
    help: 'Requests to the speech server that ended, by how',
    labelNames: ['outcome'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [outcome, count] of Object.entries(read()?.requests ?? {})) this.inc({ outcome }, count);
    },
  });
}
