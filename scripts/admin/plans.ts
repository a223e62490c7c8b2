import { listPlans, setPlanLimits } from '../../db/accounts/accounts.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import { getPlan } from './account-lookup.ts';
import { addCommand, addGroup } from './command.ts';
import { right, table } from '../terminal/table.ts';
import { Mistake } from '../terminal/refusal.ts';
import { maxRunningJobs } from '../../src/queue/jobs.ts';
import { positiveDuration, wholeNumber } from './arguments.ts';
import { formatDuration } from './durations.ts';
import type { Command } from 'commander';
import type { PlanTable, LimitOverrides, Limits } from '../../db/schema.ts';
import type { AdminContext } from './admin-context.ts';
import type { Answer, Report } from './command.ts';

export function addPlanCommands(program: Command, answer: Answer): void {
  const group = addGroup(program, 'plans', 'Show plans and change their limits.');

  addCommand(group, 'list', 'List the plans with their limits.', 'list').action(
    answer(async ({ db }) => {
      const plans = await listPlans(db);
      return { json: plans.map(planJson), text: planTable(plans) };
    }),
  );

  const describes = 'Change limits of a plan, for every account on it without a limit of its own.';
  addLimitOptions(addCommand(group, 'set', describes, 'set pro --requests-per-minute 120 --max-audio 6h'))
    .argument('<plan>', 'plan; "plans list" shows them')
    .action(answer((admin, plan: string, options: LimitOptions) => set(admin, plan, options)));
}

async function set({ db, record }: AdminContext, name: string, options: LimitOptions): Promise<Report> {
  const limits = typedLimits(options);
  if (Object.keys(limits).length === 0) throw new Mistake('no limit was given. Type at least one of them.');
  await getPlan(db, name);
  await inTransaction(db, async (trx) => {
    await setPlanLimits(trx, name, limits);
    await record(trx, { act: 'plans set', details: { plan: name, ...jsonLimits(limits) } });
  });
  const plan = await getPlan(db, name);
  return { json: planJson(plan), text: `The plan is changed.\n\n${planTable([plan])}` };
}

const planJson = (plan: PlanTable) => ({
  id: plan.plan,
  plan: plan.plan,
  eligible: plan.eligible,
  ...jsonLimits(plan),
});

function planTable(plans: PlanTable[]): string {
  const limits = limitNames.map(({ label }) => right(label));
  const rows = plans.map((plan) => [
    ...[plan.plan, plan.eligible ? 'yes' : 'no'],
    ...limitNames.map((limit) => shownLimit(limit, plan[limit.column])),
  ]);
  return table(['Plan', 'API', ...limits], rows, 'There is no plan.');
}

/** One of the five limits of plans and accounts: as JSON and in words. */
interface LimitName {
  column: keyof Limits;
  json: string;
  label: string;
  /** How people see it; without it, a plain number. */
  show?: (value: number) => string;
}

/** The columns are `int`, and the API's durations and sizes have the same largest value. */
const maxInt = 2_147_483_647;
const maxCount = 1_000_000;

export const limitNames: readonly LimitName[] = [
  { column: 'requests_per_minute', json: 'requestsPerMinute', label: 'Requests/minute' },
  { column: 'queued_sessions', json: 'queuedSessions', label: 'Queued sessions' },
  { column: 'running_jobs', json: 'runningJobs', label: 'Running jobs' },
  { column: 'max_upload_bytes', json: 'maxUploadBytes', label: 'Largest upload', show: formatBytes },
  { column: 'max_audio_ms', json: 'maxAudioMs', label: 'Longest audio', show: formatDuration },
];

/** A value for each limit. */
export const eachLimit = <Value>(valueOf: (column: keyof Limits) => Value) =>
  Object.fromEntries(limitNames.map(({ column }) => [column, valueOf(column)])) as Record<keyof Limits, Value>;

export const shownLimit = ({ show = String }: LimitName, value: number): string => show(value);

/** Some limits or all of them; null where an account has its own no more. */
export const jsonLimits = (limits: Partial<LimitOverrides>) =>
  Object.fromEntries(limitNames.flatMap(({ column, json }) => (column in limits ? [[json, limits[column]]] : [])));

export interface LimitOptions {
  requestsPerMinute?: number;
  queuedSessions?: number;
  runningJobs?: number;
  maxUploadBytes?: number;
  maxAudio?: number;
}

export function addLimitOptions(command: Command): Command {
  return command
    .option('--requests-per-minute <n>', 'requests in a window of 60 seconds', wholeNumber(0, maxCount))
    .option('--queued-sessions <n>', 'sessions that may wait at once', wholeNumber(0, maxCount))
    .option('--running-jobs <n>', `jobs at once, 1 to ${maxRunningJobs}`, wholeNumber(1, maxRunningJobs))
    .option('--max-upload-bytes <n>', `bytes of a file, up to ${maxInt}`, wholeNumber(1, maxInt))
    .option('--max-audio <duration>', 'length of an audio, such as 4h', positiveDuration(maxInt));
}

/** Only the limits that were typed. */
export function typedLimits({ maxAudio, ...named }: LimitOptions): Partial<Limits> {
  const typed: Record<string, number | undefined> = { ...named, maxAudioMs: maxAudio };
  return Object.fromEntries(
    limitNames.flatMap(({ column, json }) => (typed[json] === undefined ? [] : [[column, typed[json]]])),
  );
}

/** A number of bytes in the largest unit that gives it exactly. */
function formatBytes(bytes: number): string {
  const [unit, name] = (
    [
      [1024 ** 3, 'GiB'],
      [1024 ** 2, 'MiB'],
    ] as const
  ).find(([size]) => bytes > 0 && bytes % size === 0) ?? [1, 'bytes'];
  return `${bytes / unit} ${name}`;
}
