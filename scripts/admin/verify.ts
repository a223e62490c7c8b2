import { Option } from 'commander';
import { isBrokenOff, isStandby } from '../../db/connection/server.ts';
import { audit } from '../../src/audit/audit.ts';
import { parseDatabaseUrl } from '../../src/config/variables.ts';
import { storeMismatch } from '../../src/files/verified-audio-store.ts';
import { Spool } from '../../src/files/spool.ts';
import { WorkFolder } from '../../src/files/work-folder.ts';
import { onPatientDatabase } from './admin-context.ts';
import { addCommand } from './command.ts';
import { Mistake, Refusal } from '../terminal/refusal.ts';
import { noProgress, showProgressOn } from '../terminal/show-progress.ts';
import { count, right, table } from '../terminal/table.ts';
import type { Command } from 'commander';
import type { Audit } from '../../src/audit/audit.ts';
import type { Config } from '../../src/config/config.ts';
import type { AdminContext } from './admin-context.ts';
import type { Answer, Report } from './command.ts';

/** A standby that is further behind would show audio as lost whose session has just been completed. */
const mostBehindMs = 10_000;
const form = 'postgres://user@host:port/database, with its password in PGPASSWORD';

export function addVerifyCommand(program: Command, answer: Answer): void {
  const describes =
    'Check everything that must hold of balances, sessions, jobs, transcripts and audio; changes none of it. ' +
    'It looks at all rows of one moment. A very large database is spared where a standby is asked instead.';
  addCommand(program, 'verify', describes, 'verify', '--json verify')
    .option('--database-url <url>', `a standby to ask instead of DATABASE_URL: ${form}`)
    .addOption(new Option('--resume [file]').hideHelp())
    .addOption(new Option('--everything').hideHelp())
    .action(answer(verify, { opening: 'looks', settings: placeOf }));
}

interface Options {
  databaseUrl?: string;
  /** Of version 1.0.0. */
  resume?: string | true;
  everything?: true;
}

/** Commander's own check of a value would repeat the value, which may hold a password in any form. */
function placeOf({ databaseUrl: typed, resume, everything }: Options): Partial<Config> {
  if (resume !== undefined || everything)
    throw new Mistake('--resume and --everything are gone: verify judges everything each time. Type it without them.');
  if (typed === undefined) return {};
  const databaseUrl = parseDatabaseUrl(typed);
  if (databaseUrl === undefined) throw new Mistake(`--database-url is no address of a database. Type ${form}.`);
  return { databaseUrl, databaseDirectUrl: undefined };
}

export async function verify({ bareStore, dataDir, databaseUrl, screen }: AdminContext): Promise<Report> {
  const files = { audioStore: bareStore, spool: new Spool(dataDir), workFolder: new WorkFolder(dataDir) };
  const progress = screen.isTTY ? showProgressOn(screen, { keep: false }) : noProgress;
  const step = progress.begin('checking', 1);
  return onPatientDatabase({ databaseUrl }, async (db) => {
    const asksStandby = await isStandby(db);
    const audited = { db, ...files, behindMs: asksStandby ? mostBehindMs : 0 };
    const found = await audit(audited, { onProgress: (done) => step.reach(done) }).catch((error: unknown) => {
      throw asksStandby && isBrokenOff(error) ? new Refusal(brokenOff) : error;
    });
    const another = await storeMismatch(db, bareStore);
    return { json: found, text: textOf(found), note: another, exitCode: found.sound && another === undefined ? 0 : 1 };
  }).finally(() => step.end(true));
}

const brokenOff =
  'The standby broke it off. If it goes on, its primary has cleaned up what was still to be read: set max_standby_streaming_delay = -1 at the standby.';

function textOf({ sound, checks }: Audit): string {
  const columns = [{ head: 'Rule', width: 74 }, right('Checked'), right('Breaches')];
  const rows = checks.map(({ rule, checked, breaches }) => [rule, String(checked), String(breaches)]);
  const broken = checks.filter(({ breaches }) => breaches > 0);
  const awaiting = checks.reduce((sum, check) => sum + ('awaitingSweep' in check ? check.awaitingSweep : 0), 0);
  return [
    table(columns, rows, ''),
    '',
    ...broken.flatMap(({ rule, breaches, examples }) => [
      `${rule}: ${count(breaches, 'breach')}`.replace(/breachs$/, 'breaches'),
      ...examples.map((example) => `  ${example}`),
      ...(breaches > examples.length ? [`  and ${breaches - examples.length} more`] : []),
      '',
    ]),
    ...(awaiting > 0
      ? [`${count(awaiting, 'file')} that nobody needs: a running worker removes them within two hours.`]
      : []),
    sound ? 'Everything holds.' : `${count(broken.length, 'rule')} broken.`,
  ].join('\n');
}
