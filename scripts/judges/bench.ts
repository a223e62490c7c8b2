import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandFailed, runCommand } from './commands.ts';
import { NotRun } from './judge.ts';
import type { Bench, BenchOptions, Judge, JudgedService } from './judge.ts';

const usualLimitMs = 10 * 60_000;

/** @param options.cache where everything that is downloaded or generated stays for the next run */
export async function openBench(
  judge: Judge,
  options: { cache: string; contract: string; service: JudgedService; isQuick: boolean; signal: AbortSignal },
): Promise<Bench> {
  const { cache, contract, service, isQuick, signal } = options;
  const folder = join(cache, judge.name);
  const logFile = join(folder, 'log.txt');
  await mkdir(folder, { recursive: true });
  await writeFile(logFile, '');
  const usual = { cwd: folder, limitMs: usualLimitMs, logFile, signal };

  const run = (command: readonly string[], given: BenchOptions = {}) =>
    runCommand(command, { ...usual, ...given, env: { ...downloadsIn(cache), ...given.env } });
  const fetch = async (command: readonly string[], given?: BenchOptions) => {
    try {
      return await run(command, given);
    } catch (error) {
      if (!(error instanceof CommandFailed)) throw error;
      throw new NotRun(error.isMissing ? `no ${command[0]} here` : error.message);
    }
  };
  return { folder, cache, isQuick, contract, service, run, fetch };
}

/** Keeps what package managers download out of the user's home. */
function downloadsIn(cache: string): Record<string, string> {
  return {
    npm_config_cache: join(cache, 'downloads/npm'),
    PIP_CACHE_DIR: join(cache, 'downloads/pip'),
    GOMODCACHE: join(cache, 'downloads/go'),
    GOCACHE: join(cache, 'downloads/go-build'),
    // Without write permission `rm -r` of the cache would fail.
    GOFLAGS: '-modcacherw -mod=mod',
    GOTOOLCHAIN: 'local',
  };
}
