import { SingleBar } from 'cli-progress';
import { openDatabase, patientTimeoutMs } from '../../db/database.ts';
import { audit } from '../../src/audit/audit.ts';
import { Spool } from '../../src/files/spool.ts';
import { WorkFolder } from '../../src/files/work-folder.ts';
import { addCommand, answer } from './command.ts';
import { count, table } from '../terminal/table.ts';
import type { Command } from 'commander';
import type { Audit } from '../../src/audit/audit.ts';
import type { AdminContext } from './admin-context.ts';
import type { Report } from './command.ts';

export function addVerifyCommand(program: Command): void {
  const describes =
    'Check everything that must hold of balances, sessions, jobs, transcripts and audio; changes nothing.';
  addCommand(program, 'verify', describes, 'verify', '--json verify').action((_options: object, command: Command) =>
    answer(command, verify, 'looks'),
  );
}

export async function verify(admin: AdminContext): Promise<Report> {
  const { audioStore, dataDir } = admin;
  const files = { audioStore, spool: new Spool(dataDir), workFolder: new WorkFolder(dataDir) };
  const { db, close } = openDatabase(admin.databaseUrl, () => {}, 2, patientTimeoutMs, 'any');
  const progress = showProgress();
  try {
    const found = await audit({ db, ...files }, progress.reach);
    progress.end();
    return { json: found, text: textOf(found), exitCode: found.sound ? 0 : 1 };
  } finally {
    progress.end();
    await close();
  }
}

/** Shows a bar on a terminal, and nothing elsewhere. */
function showProgress(): { reach(done: number): void; end(): void } {
  const stream = process.stderr;
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

const number = (head: string) => ({ head, align: 'right' as const });
