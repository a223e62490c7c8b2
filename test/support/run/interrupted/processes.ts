/** A run for `run.system.test.ts`: processes as tests start them, in sessions of their own and with children. */
import { startPostgres } from '../../../rig/postgres.ts';
import { startHelloServer } from '../../models/hello-server.ts';
import { startProcess } from '../../service/processes.ts';
import { useFolder } from '../../use-folder.ts';

const dataDir = useFolder();

test('runs until it is killed', async () => {
  const { url } = await startPostgres();
  const { env } = await startHelloServer();
  await startProcess('start-worker', { DATABASE_URL: url, DATA_DIR: dataDir, ...env });
  process.stderr.write('the processes run\n');
  await new Promise(() => {});
});
