/** The whole service in a process of its own, with an account and a recording of 2 s. */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openDatabase } from '../../db/connection/database.ts';
import { atEnd } from '../support/at-end.ts';
import { clientOf } from '../support/clients/client.ts';
import { startHelloServer } from '../support/models/hello-server.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { startProcess } from '../support/service/processes.ts';
import { voice } from '../support/uploads/uploads.ts';
import type { NewTestAccount } from '../support/service/accounts.ts';

interface Setting {
  /** How the test reaches PostgreSQL. */
  url: string;
  /** What else an operator sets. */
  env?: Record<string, string>;
  /** Its server hears nothing until `go`. */
  held?: boolean;
  account?: NewTestAccount;
}

export async function startWhole({ url, env, held = true, account: wanted = { balanceMs: 60_000 } }: Setting) {
  const dataDir = await mkdtemp(join(process.env.TEST_FOLDER!, 'whole-'));
  const file = join(dataDir, 'voice.wav');
  await writeFile(file, await voice(2_000));
  const hello = await startHelloServer({ held });
  const all = { DATABASE_URL: url, DATA_DIR: dataDir, ...hello.env, ...env };
  const service = await startProcess('start', all);
  const { db, close } = openDatabase(url, () => {});
  atEnd(close);
  const account = await makeAccount(db, wanted);
  const client = clientOf(service.url, account.key);
  return { dataDir, file, env: all, service, db, close, account, client, go: hello.go };
}
