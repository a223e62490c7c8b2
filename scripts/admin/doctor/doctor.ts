/** `doctor`: looks at everything that the service needs, and says of each what to do when it is wrong. */
import { readConfig } from '../../../src/config/config.ts';
import { table } from '../../terminal/table.ts';
import { printOn } from '../answer.ts';
import { addCommand } from '../command.ts';
import { briefly } from '../exit.ts';
import { databaseChecks } from './database.ts';
import { hearingChecks } from './hearing.ts';
import { proxyChecks } from './proxy.ts';
import { storageChecks } from './storage.ts';
import type { Command } from 'commander';
import type { Config } from '../../../src/config/config.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import type { Report } from '../command.ts';
import type { Check, Patient } from './check.ts';

export interface Finding {
  check: string;
  state: 'good' | 'wrong' | 'not looked at';
  found: string;
  /** Only where it is wrong. */
  todo?: string;
}

const checks: Check[] = [...databaseChecks, ...storageChecks, ...hearingChecks, ...proxyChecks];

export function addDoctorCommand(program: Command, terminal: Terminal, onEnd: (exitCode: number) => void): void {
  const looks =
    'Look at all that the service needs: database, audio store, disk, clock, ffmpeg, recognizer, and the proxy of PUBLIC_URL. It takes away what it puts anywhere, and exits with 1 when something is wrong.';
  addCommand(program, 'doctor', looks, 'doctor', '--json doctor').action(async (_options: object, command: Command) => {
    const { json } = command.optsWithGlobals<{ json?: true }>();
    printOn(terminal, onEnd)(reportOf(await examine(readConfig(terminal.env))), json);
  });
}

export async function examine(config: Config): Promise<Finding[]> {
  const patient: Patient = { config, afterwards: [] };
  const findings: Finding[] = [];
  try {
    for (const check of checks) findings.push(await findingOf(check, patient, findings));
  } finally {
    for (const end of patient.afterwards.reverse()) await end();
  }
  return findings;
}

async function findingOf({ name, needs, look, todo }: Check, patient: Patient, before: Finding[]): Promise<Finding> {
  const lacks =
    needs === 'database'
      ? patient.database === undefined
      : needs !== undefined && before.find(({ check }) => check === 'audio store')?.state !== 'good';
  if (lacks)
    return {
      check: name,
      state: 'not looked at',
      found: needs === 'database' ? 'there is no database' : 'there is no audio store',
    };
  try {
    return { check: name, state: 'good', found: await look(patient) };
  } catch (error) {
    return { check: name, state: 'wrong', found: whyOf(error), todo };
  }
}

/** Errors of ours often say their cause. */
function whyOf(error: unknown): string {
  const [told, cause] = [Error.isError(error) ? error.message : '', briefly(error)];
  if (told === '') return cause;
  return told.includes(cause) ? told : `${told}: ${cause}`;
}

function reportOf(findings: Finding[]): Report {
  const wrong = findings.filter(({ state }) => state === 'wrong');
  const columns = [{ head: '' }, { head: 'Looked at' }, { head: 'Found' }];
  const marks: Record<Finding['state'], string> = { good: 'ok', wrong: 'WRONG', 'not looked at': '-' };
  const rows = findings.map(({ check, state, found }) => [marks[state], check, found]);
  const todos = wrong.map(({ check, todo }) => `${check}: ${todo}`);
  return {
    json: { well: wrong.length === 0, findings },
    text: [table(columns, rows, ''), '', ...(wrong.length === 0 ? ['Everything is well.'] : todos)].join('\n'),
    exitCode: wrong.length === 0 ? 0 : 1,
  };
}
