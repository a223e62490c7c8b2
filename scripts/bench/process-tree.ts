/** What a process and all that it started use, as the kernel counts it. */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';

/** One tick of the times in /proc (proc_pid_stat(5)). Linux has had no other value since 2.6. */
const msPerTick = 10;
/** Often enough for children that live for seconds, and seldom enough not to slow down what is measured. */
const sampleEveryMs = 200;

interface Process {
  pid: number;
  parent: number;
  /** In ms. */
  cpu: number;
  /** CPU time of its descendants that have ended and were waited for, in ms. */
  cpuOfEnded: number;
}

/** CPU time of a process and of all its descendants, also those that have ended, in ms. */
export function cpuOfTree(pid: number): number {
  const tree = [look(pid) ?? [], descendantsOf(pid, processes())].flat();
  return tree.reduce((sum, { cpu, cpuOfEnded }) => sum + cpu + cpuOfEnded, 0);
}

/**
 * Watches resident memory until `stop`, also of a process that ends before. For the process itself it is the kernel's
 * own peak, which is reset here. Descendants are looked at five times a second.
 * @returns the most that the process itself had, and the most that all its descendants had at once, in bytes; memory that
 *   they share (a mapped model) counts for each
 */
export function watchMemory(pid: number) {
  forgetPeak(pid);
  const peaks = { own: 0, below: 0 };
  const sample = () => {
    peaks.own = Math.max(peaks.own, memoryOf(pid).peak);
    const below = descendantsOf(pid, processes()).reduce((sum, child) => sum + memoryOf(child.pid).now, 0);
    peaks.below = Math.max(peaks.below, below);
  };
  sample();
  const timer = setInterval(sample, sampleEveryMs);
  return {
    stop() {
      clearInterval(timer);
      sample();
      return peaks;
    },
  };
}

/**
 * Resets the kernel's peak. Where that is not possible (another user's process, or an old kernel), the peak is that of
 * the whole life, which is never less.
 */
function forgetPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    return;
  }
}

/** Resident memory of a process in bytes: now, and the most it ever was. Zeros for one that has ended. */
export function memoryOf(pid: number): { now: number; peak: number } {
  try {
    const text = readFileSync(`/proc/${pid}/status`, 'utf8');
    // A zombie has no memory any more.
    const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1024;
    return { now: bytes('VmRSS'), peak: bytes('VmHWM') };
  } catch {
    return { now: 0, peak: 0 };
  }
}

function processes(): Process[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((name) => look(Number(name)) ?? []);
}

/** @param all the processes of the machine */
export function descendantsOf<Each extends { pid: number; parent: number }>(pid: number, all: readonly Each[]): Each[] {
  const found: Each[] = [];
  for (let parents = [pid]; parents.length > 0;) {
    const children = all.filter(({ parent }) => parents.includes(parent));
    found.push(...children);
    parents = children.map((child) => child.pid);
  }
  return found;
}

function look(pid: number): Process | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // After the program's name, which may contain blanks.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const ticks = (...places: number[]) => places.reduce((sum, place) => sum + Number(fields[place]), 0) * msPerTick;
    return { pid, parent: Number(fields[1]), cpu: ticks(11, 12), cpuOfEnded: ticks(13, 14) };
  } catch {
    return undefined;
  }
}
