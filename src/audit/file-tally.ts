/**
 * Counts files that nobody needs. A crash leaves such files, and the worker's sweeps remove them within two hours.
 * Until then they are no breach.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { maxExamples } from '../../db/audit/rule.ts';
import type { Check } from '../../db/audit/rule.ts';

export interface FileCheck extends Check {
  /** Files that nobody needs and that are too young to be a breach. */
  awaitingSweep: number;
}

export interface Grace {
  /** For how long a file may be needed by nobody. */
  sweptWithinMs: number;
  /**
   * How long a removal may take after the transaction that made the file superfluous, and a commit after the file is
   * written.
   */
  removedWithinMs: number;
}

/** With more suspects at once, no removal is waited for. */
const maxSuspects = 10_000;
const lookAgainMs = 50;

interface Suspect {
  name: string;
  /** Whether the file is still there and still needed by nobody. */
  isLeft: () => Promise<boolean>;
}

export class FileTally {
  readonly #check: FileCheck;
  readonly #grace: Grace;
  #suspects: Suspect[] = [];
  #beyond = 0;

  constructor(id: string, rule: string, grace: Grace) {
    this.#check = { id, rule, checked: 0, breaches: 0, examples: [], awaitingSweep: 0 };
    this.#grace = grace;
  }

  count(): void {
    this.#check.checked += 1;
  }

  /** @param unneededMs for how long nobody has needed the file; unknown counts as long */
  unneeded(name: string, unneededMs: number, isLeft: () => Promise<boolean>): void {
    if (unneededMs < this.#grace.sweptWithinMs) this.#check.awaitingSweep += 1;
    else if (this.#suspects.length < maxSuspects) this.#suspects.push({ name, isLeft });
    else this.#beyond += 1;
  }

  /** Waits for removals that are under way, and judges the files that are left. */
  async settle(): Promise<FileCheck> {
    const until = performance.now() + this.#grace.removedWithinMs;
    for (;;) {
      this.#suspects = await stillLeft(this.#suspects);
      if (this.#suspects.length === 0 || performance.now() >= until) break;
      await sleep(lookAgainMs);
    }
    const examples = this.#suspects.slice(0, maxExamples).map(({ name }) => name);
    return { ...this.#check, breaches: this.#suspects.length + this.#beyond, examples };
  }
}

async function stillLeft(suspects: Suspect[]): Promise<Suspect[]> {
  const left: Suspect[] = [];
  for (const suspect of suspects) if (await suspect.isLeft()) left.push(suspect);
  return left;
}
