/** `npm run test:crash`. The small disk that fills up is there for this command alone, where disks may be mounted. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runSuite, sayNotRun } from '../rig/suite.ts';
import { smallDisk } from '../support/faults/small-disk.ts';

const [user, group] = [process.getuid!(), process.getgid!()];
// Who is no root becomes one to mount; PostgreSQL runs only as somebody else.
const asOurselves = user === 0 ? [] : ['unshare', '--user', `--map-user=${user}`, `--map-group=${group}`];
const disk = await mkdtemp(join(tmpdir(), 'disk-'));
// Many times what the uploads of a round take, and filled within milliseconds.
const withDisk = [...smallDisk(disk, '16m'), ...asOurselves];
if (spawnSync(withDisk[0]!, [...withDisk.slice(1), 'true']).status === 0) {
  await runSuite('test/crash/', { CRASH_DISK: disk }, withDisk);
} else {
  sayNotRun('full disk, since no disk may be mounted here');
  await runSuite('test/crash/');
}
await rmdir(disk);
