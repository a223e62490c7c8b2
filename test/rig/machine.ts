/** A program with its children, which can be frozen, killed and started again. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../support/until.ts';
import { descendantsOf, isStillAlive, signal } from './processes.ts';
import type { ChildProcess } from 'node:child_process';

export interface Program {
  command: string[];
  env: Record<string, string>;
  /** Where it works. */
  folder: string;
  /** Before each start, when nothing of it runs any more. */
  prepare?(): Promise<void>;
  /** What it logs when it is at work. */
  says?: string;
  /** Whether it does its work. Throws or answers false while it does not. */
  isUp(): Promise<boolean>;
  /** Whenever it ends, as an operator's supervisor would. Until it is at work, it may end by itself. */
  startsAgain?: boolean;
}

const startAgainMs = 200;
const childrenDieWithinMs = 3_000;
/** Enough for a stack and what was logged before it. */
const lastWords = 30;

/** Its exit code, or the signal that ended it. */
export type End = number | NodeJS.Signals | null;

export class Machine {
  readonly name: string;
  /** What it logged, over all starts. */
  readonly lines: string[] = [];
  /** Ends of it that nobody asked for, and children that outlived it. */
  readonly faults: string[] = [];
  readonly #program: Program;
  #child: ChildProcess | undefined;
  #ended!: Promise<End>;
  #hasSaid = false;
  #mayEnd = false;
  #isStopped = false;

  constructor(name: string, program: Program) {
    this.name = name;
    this.#program = program;
  }

  /** Of the one that runs, or ran last. */
  get pid(): number {
    return this.#child!.pid!;
  }

  /** Of the one that runs, or ran last. */
  get ended(): Promise<End> {
    return this.#ended;
  }

  /** Without waiting for it. */
  async begin(): Promise<void> {
    const { command, env, folder, prepare } = this.#program;
    await prepare?.();
    const child = spawn(command[0]!, command.slice(1), {
      ...{ cwd: folder, env: { PATH: process.env['PATH'], LC_ALL: 'C', ...env }, stdio: ['ignore', 'pipe', 'pipe'] },
      // A group of its own: ^C is for the tests, which end the others in their own time.
      detached: true,
    });
    this.#child = child;
    [this.#hasSaid, this.#mayEnd, this.#isStopped] = [false, false, false];
    for (const output of [child.stdout!, child.stderr!]) createInterface({ input: output }).on('line', this.#keep);
    this.#ended = once(child, 'close').then(() => this.#note(child));
    if (this.#program.startsAgain) void this.#ended.then(() => this.#beginAgain());
  }

  async start(): Promise<void> {
    await this.begin();
    await this.up();
  }

  async up(): Promise<void> {
    const { says, isUp, startsAgain } = this.#program;
    await until(async () => {
      if (this.#hasEnded && !startsAgain) {
        await this.#ended;
        throw new Error(this.faults.at(-1) ?? `${this.name} did not start`);
      }
      return (says === undefined || this.#hasSaid) && isUp().catch(() => false);
    });
  }

  stop(how: NodeJS.Signals = 'SIGTERM'): Promise<End> {
    [this.#mayEnd, this.#isStopped] = [true, true];
    this.#child!.kill(how);
    return this.#ended;
  }

  /** The power fails: all of it is gone in the same moment, and stays away. */
  async kill(): Promise<void> {
    this.#isStopped = true;
    if (this.#hasEnded) return;
    this.#mayEnd = true;
    this.freeze();
    for (const pid of this.#pids()) signal(pid, 'SIGKILL');
    await this.#ended;
  }

  /** SIGKILL to the program alone, in the same moment; its children have to die with it. */
  killAlone(): void {
    [this.#mayEnd, this.#hasSaid] = [true, false];
    // Stands still while its children are noted, as if it were dead already.
    this.#child!.kill('SIGSTOP');
    const children = descendantsOf(this.pid);
    this.#child!.kill('SIGKILL');
    const orphans = () => children.filter(isStillAlive);
    void until(orphans, (left) => left.length === 0, childrenDieWithinMs).catch(() => {
      const named = orphans().map(({ name, pid }) => `${name} (${pid})`);
      this.faults.push(`outlived ${this.name}, which was killed: ${named.join(', ')}`);
    });
  }

  freeze(): void {
    // Whoever stands still starts nobody else.
    for (const pid of this.#pids()) signal(pid, 'SIGSTOP');
    for (const pid of this.#pids()) signal(pid, 'SIGSTOP');
  }

  /** Its children go on. */
  freezeAlone(): void {
    this.#child!.kill('SIGSTOP');
  }

  thaw(): void {
    for (const pid of this.#pids()) signal(pid, 'SIGCONT');
  }

  get #hasEnded(): boolean {
    return this.#child === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  #pids(): number[] {
    return [this.pid, ...descendantsOf(this.pid).map(({ pid }) => pid)];
  }

  #note(child: ChildProcess): End {
    const mayEnd = this.#mayEnd || (this.#program.startsAgain && !this.#hasSaid);
    this.#hasSaid = false;
    const how = child.signalCode ?? `exit code ${child.exitCode}`;
    if (!mayEnd) this.faults.push(`${this.name} ended by itself (${how}): ${this.lines.slice(-lastWords).join(' | ')}`);
    return child.exitCode ?? child.signalCode;
  }

  async #beginAgain(): Promise<void> {
    await sleep(startAgainMs);
    if (!this.#isStopped) await this.begin();
  }

  readonly #keep = (line: string) => {
    this.#hasSaid ||= this.#program.says !== undefined && line.includes(this.#program.says);
    this.lines.push(line);
  };
}
