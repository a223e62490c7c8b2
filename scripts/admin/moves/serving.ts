import { countServing } from '../../../db/connection/serving.ts';
import { Refusal } from '../../terminal/refusal.ts';
import { count } from '../../terminal/table.ts';
import type { Queryable } from '../../../db/connection/database.ts';

/** @throws {Refusal} while an API or a worker is connected to the database */
export async function refuseWhileServing(db: Queryable): Promise<void> {
  const { apis, workers } = await countServing(db);
  if (apis + workers === 0) return;
  const found = [apis > 0 ? count(apis, 'API') : [], workers > 0 ? count(workers, 'worker') : []].flat().join(' and ');
  throw new Refusal(
    `The service runs on this database: ${found}. Stop every process, and the supervisor that would start it again; then type the same.`,
  );
}
