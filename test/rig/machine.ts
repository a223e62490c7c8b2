/** A machine with one program on it, which can be cut off, frozen, killed and started again. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../support/until.ts';
import { descendantsOf, isStillAlive, signal } from './processes.ts';
import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { Place } from './place.ts';

export interface Program {
  command: string[];
  env: Record<string, string>;
  /** Where it works, and where its own files are. */
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

const startLimitMs = 600_000;
const startAgainMs = 200;
const childrenDieWithinMs = 3_000;
/** Enough for a stack and what was logged before it. */
const lastWords = 30;
const running = new Set<ChildProcess>();
let isOver = false;

/** Its exit code, or the signal that ended it. */
export type End = number | NodeJS.Signals | null;

export class Machine {
  readonly place: Place;
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

  /** Of the one that runs, or ran last. */
  get pid(): number {
    return this.#child!.pid!;
  }

  /** Of the one that runs, or ran last. */
  get ended(): Promise<End> {
    return this.#ended;
  }

  /** What it logs; nobody reads while it is paused. */
  get output(): Readable {
    return this.#child!.stdout!;
  }

  /** Without waiting for it. */
  async begin(): Promise<void> {
    const { command, env, folder, prepare } = this.#program;
    await prepare?.();
    const [program, ...args] = [...this.place.prefix, ...command];
    const child = spawn(program!, args, {
      ...{ cwd: folder, env: { PATH: process.env['PATH'], LC_ALL: 'C', ...env }, stdio: ['ignore', 'pipe', 'pipe'] },
      // A group of its own: ^C is for the suite, which ends the others in its own time.
      detached: true,
    });
    running.add(child);
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
    const isAtWork = async () => {
      if (this.#hasEnded && !startsAgain) {
        await this.#ended;
        throw new Error(this.faults.at(-1) ?? `${this.name} did not start`);
      }
      return (says === undefined || this.#hasSaid) && isUp().catch(() => false);
    };
    await until(isAtWork, Boolean, startLimitMs);
  }

  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<End> {
    [this.#mayEnd, this.#isStopped] = [true, true];
    this.#child!.kill(signal);
    return this.#ended;
  }

  /** The power fails: all of it is gone in the same moment. */
  async kill(): Promise<void> {
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
    return this.#child!.exitCode !== null || this.#child!.signalCode !== null;
  }

  /** Children that have no network are not at its place, and those that nobody waits for are nobody's children. */
  #pids(): number[] {
    const children = descendantsOf(this.pid).map(({ pid }) => pid);
    return [...new Set([this.pid, ...children, ...this.place.pids()])];
  }

  #note(child: ChildProcess): End {
    running.delete(child);
    const mayEnd = this.#mayEnd || (this.#program.startsAgain && !this.#hasSaid);
    this.#hasSaid = false;
    const how = child.signalCode ?? `exit code ${child.exitCode}`;
    if (!mayEnd) this.faults.push(`${this.name} ended by itself (${how}): ${this.lines.slice(-lastWords).join(' | ')}`);
    return child.exitCode ?? child.signalCode;
  }

  async #beginAgain(): Promise<void> {
    await sleep(startAgainMs);
    if (!this.#isStopped && !isOver) await this.begin();
  }

  readonly #keep = (line: string) => {
    this.#hasSaid ||= this.#program.says !== undefined && line.includes(this.#program.says);
    this.lines.push(line);
  };
}

/** Ends all of them for good, without any order. */
export function killAllMachines(): void {
  isOver = true;
  for (const { pid } of running) signal(-pid!, 'SIGKILL');
}
