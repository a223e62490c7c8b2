/** The children of a process, and theirs, as the kernel tells. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Process {
  pid: number;
  /** The program's name, 15 characters at most. */
  name: string;
  parent: number;
  /** Tells it from a later process with the same pid. */
  startTime: string;
}

/** Living processes that began below this one. */
export function descendantsOf(pid: number): Process[] {
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (look(Number(name)) ?? []) : []));
  const found: Process[] = [];
  for (let parents = [pid]; parents.length > 0;) {
    const children = all.filter(({ parent }) => parents.includes(parent));
    found.push(...children);
    parents = children.map((child) => child.pid);
  }
  return found;
}

export const isStillAlive = ({ pid, startTime }: Process): boolean => look(pid)?.startTime === startTime;

/** Nothing for one that is gone, or dead and not yet buried. See proc_pid_stat(5). */
function look(pid: number): Process | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  const nameEnd = stat.lastIndexOf(')');
  const fields = stat.slice(nameEnd + 2).split(' ');
  if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
  return { pid, name: stat.slice(stat.indexOf('(') + 1, nameEnd), parent: Number(fields[1]), startTime: fields[19]! };
}

/** Whether the recognizer works for this worker: something is decoded, and not recognized yet. */
export function isRecognizing(pid: number): boolean {
  return decodedBy(pid).length > 0 && !descendantsOf(pid).some(({ name }) => name === 'ffmpeg');
}

/** Files of decoded audio, which are removed when they have been recognized. */
function decodedBy(pid: number): string[] {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
    const dataDir = /(?:^|\0)DATA_DIR=([^\0]+)/.exec(environment)![1]!;
    return readdirSync(join(dataDir, 'work'));
  } catch {
    return [];
  }
}
