import { accuracy } from './accuracy.ts';
import { fairness } from './fairness.ts';
import { fleet } from './fleet.ts';
import { growth } from './growth.ts';
import { idle } from './idle.ts';
import { pickup } from './pickup.ts';
import { long } from './pipeline-long.ts';
import { pipeline } from './pipeline.ts';
import { reads } from './reads.ts';
import { search } from './search.ts';
import { servers } from './servers.ts';
import { speakers } from './speakers.ts';
import { start } from './start.ts';
import { uploads } from './uploads.ts';
import type { Bench } from './bench.ts';

/** In the order in which they are listed. */
export const benches: readonly Bench[] = [
  reads,
  search,
  uploads,
  pickup,
  fleet,
  start,
  idle,
  fairness,
  growth,
  accuracy,
  speakers,
  pipeline,
  long,
  servers,
];
