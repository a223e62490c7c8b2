/** Makes load with wrk, which uses less of the machine than any client in Node: one thread, 32 connections. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Setting } from './bench.ts';

const execute = promisify(execFile);
export const connections = 32;

export interface Target {
  path: string;
  headers: Record<string, string>;
}

export interface Load {
  requests: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Answers other than 2xx and 304, and broken connections. */
  failures: number;
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
  io.write(string.format("FIGURES %d %d %d %d %d\\n", summary.requests, summary.duration, latency:percentile(50),
    latency:percentile(99), e.connect + e.read + e.write + e.status + e.timeout))
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

/** Loads a server for some seconds. */
export async function load(setting: Setting, url: string, targets: string, seconds: number): Promise<Load> {
  const script = ['-s', `${setting.folder}/targets.lua`, url, '--', targets];
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', ...script];
  const { stdout } = await execute('wrk', args, { signal: setting.signal });
  const figures = /FIGURES (.*)/.exec(stdout)?.[1]?.split(' ').map(Number);
  if (figures === undefined) throw new Error(`wrk told no figures:\n${stdout}`);
  const [requests = 0, micros = 0, p50 = 0, p99 = 0, failures = 0] = figures;
  return { requests, perSecond: requests / (micros / 1e6), p50Ms: p50 / 1000, p99Ms: p99 / 1000, failures };
}
