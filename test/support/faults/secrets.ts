/** What must not get about, and the places where it could. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { sql } from 'kysely';
import { descendantsOf } from '../../rig/processes.ts';
import type { Db } from '../../../db/connection/database.ts';

/** By kind, every form in which it would be recognized. */
export type Secrets = Record<string, string[]>;

/** Of a key support sees the first ten characters and the last four; the rest is secret. */
export const keyForms = (key: string): string[] => [key.slice(10, -4)];

export function digestForms(key: string): string[] {
  const digest = createHash('sha256').update(key).digest();
  const base64 = digest.toString('base64');
  const bytes = JSON.stringify([...digest]).slice(1, -1);
  return [
    digest.toString('hex'),
    base64.replace(/=+$/, ''),
    digest.toString('base64url'),
    digest.toString('latin1'),
    bytes,
  ];
}

/** Three words in a row, and long words: what was said is recognized by them, and nothing else says them. */
export function textForms(text: string): string[] {
  const words = text.split(' ');
  const triples = words.slice(2).map((_, i) => words.slice(i, i + 3).join(' '));
  return [...triples, ...words.filter((word) => word.length >= 9)];
}

/** The kinds of secret that a text holds. */
export const leaksIn = (text: string, secrets: Secrets): string[] =>
  Object.entries(secrets)
    .filter(([, forms]) => forms.some((form) => text.includes(form)))
    .map(([kind]) => kind);

/** Every row of every table of ours and the queue's, as text, by table. */
export async function dumpTables(db: Db): Promise<Map<string, string>> {
  const { rows } = await sql<{ name: string }>`
    select format('%I.%I', table_schema, table_name) as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`.execute(db);
  const dump = new Map<string, string>();
  for (const { name } of rows) {
    const { rows: texts } = await sql.raw<{ text: string }>(`select t::text as text from ${name} t`).execute(db);
    dump.set(name, texts.map(({ text }) => text).join('\n'));
  }
  return dump;
}

export interface ProcessTraces {
  /** What it runs, as its command line says. */
  program: string;
  environment: string;
  commandLine: string;
}

/** What the living descendants of a process show of themselves, but for those that became another program meanwhile. */
export function tracesBelow(pid: number): ProcessTraces[] {
  return descendantsOf(pid).flatMap((found) => {
    const commandLine = readProc(`${found.pid}/cmdline`);
    const environment = readProc(`${found.pid}/environ`);
    const isSame = readProc(`${found.pid}/cmdline`) === commandLine;
    return isSame ? [{ program: basename(commandLine.split('\0')[0]!), environment, commandLine }] : [];
  });
}

/** Nothing of a process that has ended meanwhile. */
function readProc(path: string): string {
  try {
    return readFileSync(join('/proc', path), 'utf8');
  } catch {
    return '';
  }
}

/** Files that another user may do anything with, and folders that another user may look into, below a folder. */
export async function openToOthers(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    const stats = await lstat(path).catch(() => undefined);
    if (stats === undefined || stats.isSymbolicLink()) continue;
    // To pass through a folder is no look into it.
    const forbidden = stats.isDirectory() ? 0o066 : 0o077;
    if ((stats.mode & forbidden) !== 0) found.push(`${path} ${(stats.mode & 0o777).toString(8)}`);
    if (stats.isDirectory()) found.push(...(await openToOthers(path)));
  }
  return found;
}
