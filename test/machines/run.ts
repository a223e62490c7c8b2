/** `npm run test:machines`. It needs HAProxy and PgBouncer, or what PgBouncer is built with; without them it is "not run". */
import { spawnSync } from 'node:child_process';
import { notRun, runSuite } from '../rig/suite.ts';
import { pgBouncer } from './pgbouncer.ts';

if (spawnSync('haproxy', ['-v']).status !== 0) notRun("Debian's package haproxy is not installed");
await runSuite('test/machines/', { PGBOUNCER: await pgBouncer() });
