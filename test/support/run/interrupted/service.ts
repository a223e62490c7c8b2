/** A run for `run.system.test.ts`: a service in the test's own process, and a program that nobody waits for. */
import { spawn } from 'node:child_process';
import { ScriptedRecognizer } from '../../models/scripted-recognizer.ts';
import { useService } from '../../service/use-service.ts';

const service = await useService();

test('runs until it is killed', async () => {
  await service.work(new ScriptedRecognizer());
  spawn('sh', ['-c', 'sleep 1000; true'], { detached: true, env: {} });
  process.stderr.write('the service runs\n');
  await new Promise(() => {});
});
