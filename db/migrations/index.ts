import { initial } from './0001-initial.ts';
import { plainNames } from './0002-plain-names.ts';
import type { Migration } from 'kysely/migration';

/** In the order in which they run. Add to the end; never change one that was released. */
export const migrations: Record<string, Migration> = { '0001-initial': initial, '0002-plain-names': plainNames };
