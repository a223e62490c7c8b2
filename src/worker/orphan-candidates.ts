const patienceMs = 10 * 60_000;
/** Those beyond it wait for the next list of the audio. */
const maxCandidates = 100_000;

interface Owner {
  accountId: string;
  sessionId: string;
}

/**
 * Audio that looked superfluous in a list of all audio. A clock that jumps makes every file look old, also the file of
 * an upload that is about to commit. So a file is removed only if nobody needs it ten minutes later either, by a clock
 * that never jumps. No upload is without a new byte and without a row for so long.
 */
export class OrphanCandidates {
  /** Since when, in ms as of `performance.now()`, the oldest first. */
  readonly #since = new Map<string, { owner: Owner; since: number }>();

  /** One that is a suspect already stays one since then. @param steadyNow ms, as of `performance.now()` */
  add(owner: Owner, steadyNow: number): void {
    const name = nameOf(owner);
    if (!this.#since.has(name) && this.#since.size < maxCandidates) this.#since.set(name, { owner, since: steadyNow });
  }

  /** Candidates of ten minutes ago or longer: look at their rows once more. */
  due(steadyNow: number): Owner[] {
    return [...this.#since.values()].filter(({ since }) => steadyNow - since >= patienceMs).map(({ owner }) => owner);
  }

  forget(owner: Owner): void {
    this.#since.delete(nameOf(owner));
  }
}

const nameOf = ({ accountId, sessionId }: Owner) => `${accountId}/${sessionId}`;
