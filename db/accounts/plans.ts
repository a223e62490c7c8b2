import type { Queryable } from '../connection/database.ts';
import type { Limits, PlanTable } from '../schema.ts';

export function listPlans(db: Queryable): Promise<PlanTable[]> {
  return db.selectFrom('plans').selectAll().orderBy('queued_sessions').execute();
}

/** Changes limits of a plan, for every account without limits of its own. Undefined when there is no such plan. */
export function setPlanLimits(db: Queryable, plan: string, limits: Partial<Limits>): Promise<PlanTable | undefined> {
  return db.updateTable('plans').set(limits).where('plan', '=', plan).returningAll().executeTakeFirst();
}
