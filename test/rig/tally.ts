/** What clients met: how many requests they sent, and which of them they had to send again. */

export interface Again {
  at: number;
  path: string;
  why: string;
}

export class Tally {
  requests = 0;
  readonly again: Again[] = [];
  /** When uploads were answered. */
  readonly uploadsAt: number[] = [];

  /** @param whyAgain why the request was not answered; undefined when it was */
  readonly heard = (path: string, whyAgain: string | undefined): void => {
    this.requests += 1;
    if (whyAgain === undefined && path === '/transcriptions') this.uploadsAt.push(performance.now());
    if (whyAgain !== undefined) this.again.push({ at: performance.now(), path, why: whyAgain });
  };

  /** Counts what comes from now on. */
  begin(): () => { requests: number; again: Again[] } {
    const [requests, again] = [this.requests, this.again.length];
    return () => ({ requests: this.requests - requests, again: this.again.slice(again) });
  }
}
