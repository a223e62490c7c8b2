import { accuracy } from './accuracy.ts';
import { fairness } from './fairness.ts';
import { growth } from './growth.ts';
import { pickup } from './pickup.ts';
import { long } from './pipeline-long.ts';
import { pipeline } from './pipeline.ts';
import { reads } from './reads.ts';
import { uploads } from './uploads.ts';
import type { Bench } from './bench.ts';

/** In the order in which they are listed. */
export const benches: readonly Bench[] = [reads, uploads, pickup, fairness, growth, accuracy, pipeline, long];
