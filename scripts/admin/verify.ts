import { SingleBar } from 'cli-progress';
import { nameOfDatabase } from '../../db/audit/audit.ts';
import { openDatabase, patientTimeoutMs } from '../../db/connection/database.ts';
import { isBrokenOff, isStandby } from '../../db/connection/standby.ts';
import { resume } from './verify-progress.ts';
import { audit } from '../../src/audit/audit.ts';
import { parseDatabaseUrl } from '../../src/config/values.ts';
import { whyNotOurs } from '../../src/files/known-store.ts';
import { Spool } from '../../src/files/spool.ts';
import { WorkFolder } from '../../src/files/work-folder.ts';
import { explainMistakes } from './answer.ts';
import { addCommand } from './command.ts';
import { Mistake } from '../terminal/mistake.ts';
import { Refusal } from '../terminal/refusal.ts';
import { count, table } from '../terminal/table.ts';
import type { Command } from 'commander';
import type { Looking } from '../../db/audit/audit.ts';
import type { Audit } from '../../src/audit/audit.ts';
import type { Config } from '../../src/config/config.ts';
import type { AdminContext } from './admin-context.ts';
import type { Answer } from './answer.ts';
import type { Report } from './command.ts';
import type { Screen } from '../terminal/terminal.ts';

/** A standby that is further behind would show audio as lost whose session has just been completed. */
const mostBehindMs = 10_000;
const form = 'postgres://user@host:port/database, with its password in PGPASSWORD';

export function addVerifyCommand(program: Command, answer: Answer): void {
  const describes =
    'Check everything that must hold of balances, sessions, jobs, transcripts and audio; changes none of it. ' +
    'It looks at a large database in parts of some seconds. A standby can be asked instead.';
  addCommand(program, 'verify', describes, 'verify', '--json verify')
    .option('--database-url <url>', `a standby to ask instead of DATABASE_URL: ${form}`)
    .option('--resume <file>', 'keep there how far it is, and go on there when it was interrupted')
    .option('--everything', 'judge all transcripts, also those that nobody changed since an earlier look')
    .action(async (options: Options, command: Command) => {
      const { databaseUrl } = options;
      const typed = await explainMistakes(command, async () => (databaseUrl === undefined ? {} : placeOf(databaseUrl)));
      return answer(command, (admin) => verify(admin, options), 'looks', typed);
    });
}

/** Commander's own check of a value would repeat the value, which may hold a password in any form. */
function placeOf(typed: string): Pick<Config, 'databaseUrl' | 'databaseDirectUrl'> {
  const databaseUrl = parseDatabaseUrl(typed);
  if (databaseUrl === undefined) throw new Mistake(`--database-url is no address of a database. Type ${form}.`);
  return { databaseUrl, databaseDirectUrl: undefined };
}

interface Options {
  databaseUrl?: string;
  /** A file. */
  resume?: string;
  everything?: boolean;
}

export async function verify(admin: AdminContext, options: Options = {}): Promise<Report> {
  const { bareStore, dataDir, screen } = admin;
  const { resume: file, everything } = options;
  const files = { audioStore: bareStore, spool: new Spool(dataDir), workFolder: new WorkFolder(dataDir) };
  const { db, close } = openDatabase(admin.databaseUrl, () => {}, {
    maxConnections: 2,
    timeoutMs: patientTimeoutMs,
    server: 'any',
  });
  const progress = showProgress(screen);
  let asksStandby = false;
  try {
    asksStandby = await isStandby(db);
    const resumed = file === undefined ? undefined : await resume(file, await nameOfDatabase(db), everything);
    // A standby is another copy, and nothing can be kept there.
    const isOwn = options.databaseUrl === undefined && !asksStandby;
    const marks = isOwn ? (everything ? 'renewed' : 'used') : undefined;
    const looking: Looking = { onProgress: progress.reach, marks, ...resumed };
    const found = await audit({ db, ...files, behindMs: asksStandby ? mostBehindMs : 0 }, looking);
    await resumed?.end();
    progress.end();
    const another = await whyNotOurs(db, bareStore);
    return { json: found, text: textOf(found), note: another, exitCode: found.sound && another === undefined ? 0 : 1 };
  } catch (error) {
    throw asksStandby && isBrokenOff(error) ? new Refusal(brokenOff) : error;
  } finally {
    progress.end();
    await close();
  }
}

const brokenOff =
  'The standby broke it off. If it goes on, its primary has cleaned up what was still to be read: set max_standby_streaming_delay = -1 at the standby.';

/** Shows a bar on a terminal, and nothing elsewhere. */
function showProgress(stream: Screen): { reach(done: number): void; end(): void } {
  if (!stream.isTTY) return { reach() {}, end() {} };
  const look = { barCompleteChar: '█', barIncompleteChar: '░', barsize: 30, hideCursor: false, clearOnComplete: true };
  const bar = new SingleBar({ stream, format: '{bar} {percentage} %  checking, {duration_formatted}', ...look });
  bar.start(100, 0);
  return { reach: (done) => bar.update(Math.floor(100 * done)), end: () => bar.stop() };
}

function textOf({ sound, checks }: Audit): string {
  const columns = [{ head: 'Rule', width: 74 }, number('Checked'), number('Breaches')];
  const rows = checks.map(({ rule, checked, breaches }) => [rule, String(checked), String(breaches)]);
  const broken = checks.filter(({ breaches }) => breaches > 0);
  const awaiting = checks.reduce((sum, check) => sum + ('awaitingSweep' in check ? check.awaitingSweep : 0), 0);
  const unchanged = Math.max(...checks.map((check) => ('unchanged' in check ? check.unchanged : 0)));
  return [
    table(columns, rows, ''),
    '',
    ...broken.flatMap(({ rule, breaches, examples }) => [
      `${rule}: ${count(breaches, 'breach')}`.replace(/breachs$/, 'breaches'),
      ...examples.map((example) => `  ${example}`),
      ...(breaches > examples.length ? [`  and ${breaches - examples.length} more`] : []),
      '',
    ]),
    ...(unchanged > 0
      ? [`${count(unchanged, 'transcript')} unchanged since an earlier look: --everything judges them, too.`]
      : []),
    ...(awaiting > 0
      ? [`${count(awaiting, 'file')} that nobody needs: a running worker removes them within two hours.`]
      : []),
    sound ? 'Everything holds.' : `${count(broken.length, 'rule')} broken.`,
  ].join('\n');
}

const number = (head: string) => ({ head, align: 'right' as const });
