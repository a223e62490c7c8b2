/** A machine with one program on it, which can be cut off, frozen, killed and started again. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { until } from '../support/until.ts';
import { descendantsOf } from '../crash/descendants.ts';
import type { ChildProcess } from 'node:child_process';
import type { Place } from './network.ts';

export interface Program {
  command: string[];
  env: Record<string, string>;
  /** Where it works, and where its own files are. */
  folder: string;
  /** Before each start, when nothing of it runs any more. */
  prepare?(): Promise<void>;
  /** Whether it does its work. Throws or answers false while it does not. */
  isUp(): Promise<boolean>;
}

const startLimitMs = 120_000;
const linesKept = 2_000;
/** Enough for a stack and what was logged before it. */
const lastWords = 30;

export class Machine {
  readonly place: Place;
  /** Its last words, over all starts. */
  readonly lines: string[] = [];
  /** Ends of it that nobody asked for. */
  readonly faults: string[] = [];
  readonly #program: Program;
  #child: ChildProcess | undefined;
  #ended: Promise<unknown> = Promise.resolve();
  #mayEnd = false;

  constructor(place: Place, program: Program) {
    this.place = place;
    this.#program = program;
  }

  get name(): string {
    return this.place.name;
  }

  get folder(): string {
    return this.#program.folder;
  }

  get pid(): number {
    return this.#child!.pid!;
  }

  /** Without waiting for it. */
  async begin(): Promise<void> {
    const { command, env, folder, prepare } = this.#program;
    await prepare?.();
    const [program, ...args] = [...this.place.prefix, ...command];
    const child = spawn(program!, args, {
      ...{ cwd: folder, env: { PATH: process.env['PATH'], LC_ALL: 'C', ...env } },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    this.#mayEnd = false;
    for (const output of [child.stdout, child.stderr]) createInterface({ input: output }).on('line', this.#keep);
    this.#ended = once(child, 'close').then(() => {
      const how = child.signalCode ?? `exit code ${child.exitCode}`;
      if (!this.#mayEnd)
        this.faults.push(`${this.name} ended by itself (${how}): ${this.lines.slice(-lastWords).join(' | ')}`);
    });
  }

  async start(): Promise<void> {
    await this.begin();
    await this.up();
  }

  async up(): Promise<void> {
    const isUp = () => {
      if (this.#child!.exitCode !== null) throw new Error(this.faults.at(-1) ?? `${this.name} did not start`);
      return this.#program.isUp().catch(() => false);
    };
    await until(isUp, Boolean, startLimitMs);
  }

  /** SIGTERM. @returns its exit code, or the signal that ended it */
  async stop(): Promise<number | string | null> {
    this.#mayEnd = true;
    this.#child!.kill('SIGTERM');
    await this.#ended;
    return this.#child!.exitCode ?? this.#child!.signalCode;
  }

  /** The power fails: all of it is gone in the same moment. */
  async kill(): Promise<void> {
    this.#mayEnd = true;
    this.freeze();
    for (const pid of this.#pids()) signal(pid, 'SIGKILL');
    await this.#ended;
  }

  freeze(): void {
    // Whoever stands still starts nobody else.
    for (const pid of this.#pids()) signal(pid, 'SIGSTOP');
    for (const pid of this.#pids()) signal(pid, 'SIGSTOP');
  }

  thaw(): void {
    for (const pid of this.#pids()) signal(pid, 'SIGCONT');
  }

  /** Children that have no network are not at its place, and those that nobody waits for are nobody's children. */
  #pids(): number[] {
    const children = descendantsOf(this.pid).map(({ pid }) => pid);
    return [...new Set([this.pid, ...children, ...this.place.pids()])];
  }

  readonly #keep = (line: string) => {
    this.lines.push(line);
    if (this.lines.length > linesKept) this.lines.shift();
  };
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
