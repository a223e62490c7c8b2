/** Support's command without its command line. */
import { withAdminContext } from '../../../scripts/admin/admin-context.ts';
import { readConfig } from '../../../src/config.ts';
import type { AdminContext, Opening } from '../../../scripts/admin/admin-context.ts';

/** @param env what an operator would have set: where the database and the data are */
export function asSupport<Result>(
  env: Record<string, string>,
  work: (admin: AdminContext) => Promise<Result>,
  opening?: Opening,
): Promise<Result> {
  return withAdminContext(readConfig(env), () => {}, work, 'a test', opening);
}
