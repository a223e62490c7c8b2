import { listPlans, setPlanLimits } from '../../db/accounts/plans.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import { getPlan } from './account-lookup.ts';
import { addCommand, addGroup } from './command.ts';
import { addLimitOptions, jsonLimits, limitDetails, limitNames, shownLimit, typedLimits } from './limits.ts';
import { table } from '../terminal/table.ts';
import { Mistake } from '../terminal/mistake.ts';
import type { Command } from 'commander';
import type { PlanTable } from '../../db/schema.ts';
import type { AdminContext } from './admin-context.ts';
import type { Answer, Report } from './command.ts';
import type { LimitOptions } from './limits.ts';

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
    await record(trx, { act: 'plans set', details: { plan: name, ...limitDetails(limits) } });
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
  const limits = limitNames.map(({ label }) => ({ head: label, align: 'right' as const }));
  const rows = plans.map((plan) => [
    ...[plan.plan, plan.eligible ? 'yes' : 'no'],
    ...limitNames.map((limit) => shownLimit(limit, plan[limit.column])),
  ]);
  return table([{ head: 'Plan' }, { head: 'API' }, ...limits], rows, 'There is no plan.');
}
