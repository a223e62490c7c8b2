import { accuracy } from './accuracy.ts';
import { fairness } from './fairness.ts';
import { fleet } from './fleet.ts';
import { growth } from './growth.ts';
import { oneMachine } from './one-machine.ts';
import { pipeline } from './pipeline.ts';
import { reads } from './reads.ts';
import { search } from './search.ts';
import { servers } from './servers.ts';
import { speakers } from './speakers.ts';
import { uploads } from './uploads.ts';
import type { Bench } from './bench.ts';

/** In the order in which they are listed. */
export const benches: readonly Bench[] = [
  oneMachine,
  reads,
  search,
  uploads,
  fleet,
  fairness,
  growth,
  accuracy,
  speakers,
  pipeline,
  servers,
];
