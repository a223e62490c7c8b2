/** What a fault may leave on the machine and in the files, and what the auditor says in the end. */
import { verify as lookAtEverything } from '../../scripts/admin/verify.ts';
import { AbandonedUploads } from '../../src/files/spool.ts';
import { audit } from '../../src/audit/audit.ts';
import { readConfig } from '../../src/config/config.ts';
import { composeService } from '../../src/process/composition.ts';
import { createLog } from '../../src/ops/log.ts';
import { WorkFolder } from '../../src/files/work-folder.ts';
import { asSupport } from '../support/service/admin.ts';
import { auditedFiles } from '../support/service/audit.ts';
import { sweepLater } from '../support/service/later-sweeps.ts';
import { indexBacklog } from '../../src/worker/backlog.ts';
import { commandOf, descendantsOf } from './processes.ts';
import { until } from '../support/until.ts';
import type { Process } from './processes.ts';
import type { Db } from '../../db/connection/database.ts';
import type { Audit } from '../../src/audit/audit.ts';
import type { Machine } from './machine.ts';

const childrenGoneWithinMs = 30_000;
const sweepGraceMs = 61 * 60 * 1000;
/** One for all rounds: each listens for the end of the process. */
const log = createLog({ logLevel: 'silent' });

/** What an operator sets for a command on the service's database and files. */
export type Environment = Record<string, string>;

/** Children of attempts and uploads, when nothing is under way any more. A recognizer may keep one with its model. */
export async function leftProcesses(machines: readonly Machine[]): Promise<string[]> {
  const keepsModel = (child: Process) => commandOf(child).includes('/src/recognizers/');
  const left = () => machines.flatMap(({ pid }) => descendantsOf(pid)).filter((child) => !keepsModel(child));
  const isNone = (processes: Process[]) => processes.length === 0;
  return until(left, isNone, childrenGoneWithinMs).then(
    () => [],
    () => left().map(({ name, pid }) => `${name} (${pid}) runs on for nobody`),
  );
}

/** The service's own sweeps, as they will be when what nobody needs is old enough for them. */
export async function sweepAfterGrace(environment: Environment): Promise<void> {
  const foundation = await composeService(readConfig(environment), log, 'api');
  try {
    const workFolder = new WorkFolder(environment['DATA_DIR']!);
    const stopping = new AbortController().signal;
    await sweepLater({ ...foundation, workFolder, stopping }, sweepGraceMs);
    await indexBacklog({ ...foundation, stopping });
    const uploads = new AbandonedUploads(foundation.spool, foundation.log);
    await uploads.look(0);
    await uploads.look(sweepGraceMs);
  } finally {
    await foundation.close();
  }
}

/** What the auditor finds in this moment. */
export async function brokenNow(db: Db, dataDir: string): Promise<string[]> {
  return brokenRules(await audit({ db, ...auditedFiles(dataDir) }));
}

/** `npm run admin -- verify`: the invariants that it found broken. */
export async function verify(environment: Environment): Promise<string[]> {
  return brokenRules((await asSupport(environment, lookAtEverything, 'looks')).json as Audit);
}

const brokenRules = ({ checks }: Audit) =>
  checks
    .filter(({ breaches }) => breaches > 0)
    .map(({ rule, breaches, examples }) => `${rule}: ${breaches} (${JSON.stringify(examples.slice(0, 3))})`);
