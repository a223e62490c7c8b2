/** Support's command without its command line. */
import { Writable } from 'node:stream';
import { withAdminContext } from '../../../scripts/admin/admin-context.ts';
import { readConfig } from '../../../src/config/config.ts';
import type { AdminContext, Opening } from '../../../scripts/admin/admin-context.ts';

const nobodyLooks = new Writable({ write: (_text, _encoding, done) => done() });

/** @param env what an operator would have set: where the database and the data are */
export function asSupport<Result>(
  env: Record<string, string>,
  work: (admin: AdminContext) => Promise<Result>,
  opening?: Opening,
): Promise<Result> {
  return withAdminContext(readConfig(env), nobodyLooks, work, 'a test', opening);
}
