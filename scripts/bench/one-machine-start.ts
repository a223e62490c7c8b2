/** How long people and supervisors wait from `npm start` until the service serves, and where that time goes. */
import { readFile } from 'node:fs/promises';
import { serviceEnv, startProgram } from './program.ts';
import type { Setting } from './bench.ts';

/** All in ms, each from the one before. */
export interface Course {
  'npm start → the first line of the log': number;
  '→ the API answers': number;
  '→ /readyz answers 200': number;
  'npm start → /readyz': number;
  'the first request': number;
  'the tenth request': number;
}

/** @param url of a PostgreSQL of the operator's own. Without it, the service starts the embedded one. */
export async function measureStarts(setting: Setting, key: string, url?: string): Promise<Course[]> {
  const rounds = setting.sized({ full: 10, quick: 4, tiny: 1 });
  const kind = url === undefined ? 'embedded PostgreSQL' : 'own PostgreSQL';
  const courses: Course[] = [];
  // The first start fills the caches of the compiler and the disk.
  for (let round = setting.size === 'tiny' ? 0 : -1; round < rounds; round += 1) {
    setting.say(`Measuring: ${kind}, start ${Math.max(1, round + 1)} of ${rounds} …`);
    const course = await startOnce(setting, url, key);
    if (round >= 0) courses.push(course);
  }
  return courses;
}

async function startOnce(setting: Setting, url: string | undefined, key: string): Promise<Course> {
  const { DATABASE_URL: _, ...env } = serviceEnv(setting, url ?? '');
  const [began, beganAt] = [performance.now(), Date.now()];
  const service = await startProgram(setting, {
    script: 'src/start.ts',
    byNpm: 'start',
    env: { ...env, ...(url !== undefined && { DATABASE_URL: url }) },
  });
  const ready = performance.now() - began;
  const ask = async () => {
    const asked = performance.now();
    const response = await fetch(`${service.url}/v1/sessions`, { headers: { Authorization: `Bearer ${key}` } });
    await response.text();
    if (response.status !== 200) throw new Error(`the first requests were answered ${response.status}`);
    return performance.now() - asked;
  };
  const requests: number[] = [];
  while (requests.length < 10) requests.push(await ask());
  const lines = (await readFile(service.logFile, 'utf8')).split('\n').filter((line) => line.startsWith('{'));
  const events = lines.map((line) => JSON.parse(line) as { time: number; msg: string });
  const at = (message?: string) => events.find(({ msg }) => message === undefined || msg === message)!.time - beganAt;
  await service.stop();
  return {
    'npm start → the first line of the log': at(),
    '→ the API answers': at('api answers') - at(),
    '→ /readyz answers 200': ready - at('api answers'),
    'npm start → /readyz': ready,
    'the first request': requests[0]!,
    'the tenth request': requests[9]!,
  };
}
