/** `database run`: programs such as psql and pg_dump on the database of the service, also on the embedded one. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { hasSupportLog } from '../../db/accounts/support-log.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import { Refusal } from '../terminal/refusal.ts';
import { environmentFor } from './database-environment.ts';
import type { Interruption } from '../terminal/interruption.ts';
import type { AdminContext } from './admin-context.ts';
import type { LongReport } from './command.ts';

/**
 * Changes no tables itself: a dump is restored to a database that is empty. The program's output is the command's own, and
 * so is its exit code.
 *
 * @throws {Refusal} when the program can't be started
 */
export async function runOnDatabase(
  admin: AdminContext,
  [program, ...args]: string[],
  env: NodeJS.ProcessEnv,
  { handOver }: Interruption,
): Promise<LongReport> {
  if (await hasSupportLog(admin.db)) await inTransaction(admin.db, (trx) => admin.record(trx, { act: 'database run' }));
  return {
    async print() {
      const child = spawn(program!, args, { env: environmentFor(admin.databaseUrl, env), stdio: 'inherit' });
      // The terminal gives Ctrl-C to the program as well, and what it means there is the program's affair: in psql it
      // cancels a query. SIGTERM came to this process alone.
      const takeBack = handOver((signal) => void (signal === 'SIGTERM' && child.kill(signal)));
      const ended = once(child, 'exit').finally(takeBack);
      const [code] = await ended.catch((error: Error) => {
        throw new Refusal(`${program} can not be started: ${error.message}.`);
      });
      return (code as number | null) ?? 1;
    },
  };
}
