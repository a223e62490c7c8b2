/** Makes load with wrk, which uses less of the machine than any client in Node: one thread, any number of connections. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Setting } from './bench.ts';

const execute = promisify(execFile);

export interface Target {
  path: string;
  headers: Record<string, string>;
}

export interface Load {
  perSecond: number;
  p99Ms: number;
}

/** Each request goes to one of the targets, at random. wrk prepares them before it begins. */
const lua = `
local requests = {}
function init(args)
  math.randomseed(os.time())
  for line in io.lines(args[1]) do
    local path, names = line:match("^(%S+)\\t(.*)$")
    local headers = {}
    for name, value in names:gmatch("([^\\t:]+): ([^\\t]*)") do headers[name] = value end
    requests[#requests + 1] = wrk.format("GET", path, headers)
  end
end
function request() return requests[math.random(#requests)] end
function done(summary, latency)
  local e = summary.errors
  io.write(string.format("FIGURES %d %d %d %d\\n", summary.requests, summary.duration, latency:percentile(99),
    e.connect + e.read + e.write + e.status + e.timeout))
end
`;

/** @throws with what to type when wrk is not installed */
export async function requireWrk(): Promise<void> {
  await execute('wrk', ['-v']).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT')
      throw new Error('wrk is missing. Type this, then run the bench again:\n  apt-get install wrk');
  });
}

/** Writes the targets of one contender where {@link load} finds them. @returns the file */
export async function writeTargets({ folder }: Setting, name: string, targets: readonly Target[]): Promise<string> {
  const file = `${folder}/${name}.targets`;
  const lines = targets.map(({ path, headers }) =>
    [path, ...Object.entries(headers).map(([header, value]) => `${header}: ${value}`)].join('\t'),
  );
  await writeFile(file, `${lines.join('\n')}\n`);
  await writeFile(`${folder}/targets.lua`, lua);
  return file;
}

/**
 * Loads a server for some seconds, by so many connections that always ask.
 * @throws when it answers something else than 2xx and 304, or breaks a connection
 */
export async function load(
  { folder, signal }: Setting,
  url: string,
  targets: string,
  seconds: number,
  connections: number,
): Promise<Load> {
  const script = ['-s', `${folder}/targets.lua`, url, '--', targets];
  const args = ['-t1', `-c${connections}`, `-d${Math.ceil(seconds)}s`, '--timeout', '10s', ...script];
  const running = execute('wrk', args, { signal });
  // wrk knows whole seconds only; interrupted, it tells what it has counted.
  const timer = setTimeout(() => running.child.kill('SIGINT'), seconds * 1000);
  const { stdout } = await running.finally(() => clearTimeout(timer));
  const figures = /FIGURES (.*)/.exec(stdout)?.[1]?.split(' ').map(Number);
  if (figures === undefined) throw new Error(`wrk told no figures:\n${stdout}`);
  const [requests = 0, micros = 0, p99 = 0, failures = 0] = figures;
  if (failures > 0) throw new Error(`${failures} of ${requests} requests failed at ${url}`);
  return { perSecond: requests / (micros / 1e6), p99Ms: p99 / 1000 };
}
