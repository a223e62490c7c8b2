/**
 * Several processes that answer on one port (`API_PROCESSES`). The master starts them, deals connections out to them,
 * starts again what dies, and speaks for all to operators. It does no other work: the worker, too, is a process of its
 * own.
 */
import { PlainFault } from '../lifetime.ts';
import { showOnPort } from '../ops.ts';
import { KeptProcess } from './kept-process.ts';
import { SummedMetrics } from './summed-metrics.ts';
import type { Config } from '../config/config.ts';
import type { Halves } from '../halves.ts';
import type { Log } from '../log.ts';
import type { Readiness } from '../readiness.ts';

/** @returns an orderly stop of all @throws {PlainFault} when one of them can not start */
export async function startMaster(config: Config, log: Log, halves: Halves): Promise<() => Promise<void>> {
  const metrics = new SummedMetrics();
  const apis = Array.from({ length: config.apiProcesses }, () => new KeptProcess('api', log, metrics));
  const all = halves.worker ? [...apis, new KeptProcess('worker', log, metrics)] : apis;
  let whyNotServing: string | undefined = 'starting';
  const hide = await showOnPort(
    {
      whyNotAlive: () => whoDoesNotAnswer(all),
      readiness: async () => (whyNotServing === undefined ? readinessOfAll(all) : { problem: whyNotServing }),
      async metrics() {
        await Promise.all(all.map((one) => one.lookAtFigures()));
        return metrics.text(() => all.map(({ figures }) => figures));
      },
    },
    config,
    log,
  );
  const stop = async () => {
    whyNotServing = 'stopping';
    // When it is over in whatever way, who is still there could not stop in time. After any other end of the master,
    // its children stop by themselves.
    process.on('exit', () => all.forEach((one) => one.kill()));
    const inOrder = await Promise.all(all.map((one) => one.stop()));
    await hide();
    if (inOrder.includes(false)) throw new PlainFault('not every process stopped in order');
  };
  try {
    // The first one tells what is wrong with the settings. The worker begins no job before the port is theirs.
    const [first, ...others] = all;
    await first!.start();
    await Promise.all(others.map((one) => one.start()));
  } catch (error) {
    await stop().catch(() => {});
    throw error;
  }
  whyNotServing = undefined;
  log.info({ processes: all.length }, 'all processes are ready');
  return stop;
}

/** A process that is just being started again is nobody's fault. */
async function whoDoesNotAnswer(all: KeptProcess[]): Promise<string | undefined> {
  const asked = all.filter(({ isReady }) => isReady);
  const answers = await Promise.all(
    asked.map(async (one) => ((await one.ask('isAlive')) || !one.isReady ? undefined : silent(one))),
  );
  return answers.find((answer) => answer !== undefined);
}

/** One process that answers is enough for clients, so a process that died is no problem as long as others are there. */
async function readinessOfAll(all: KeptProcess[]): Promise<Readiness> {
  const present = all.filter(({ isReady }) => isReady);
  for (const half of ['api', 'worker']) {
    const ofHalf = ({ half: other }: KeptProcess) => other === half;
    if (all.some(ofHalf) && !present.some(ofHalf))
      return { problem: `no process (${half}) is there: it is started again` };
  }
  const answers = await Promise.all(
    present.map(async (one) => (await one.ask('readiness')) ?? (one.isReady ? { problem: silent(one) } : {})),
  );
  const { problem } = answers.find((answer) => answer.problem !== undefined) ?? {};
  const missing = all.length - present.length;
  const notice =
    missing > 0
      ? `${missing} of ${all.length} processes are being started again`
      : answers.find((answer) => answer.notice !== undefined)?.notice;
  return { ...(problem !== undefined && { problem }), ...(notice !== undefined && { notice }) };
}

const silent = ({ half, pid }: KeptProcess): string => `the process ${pid} (${half}) does not answer`;
