/** Who sends a request and whether they may: 401 → 403 plan or suspended → 429 allowance → 403 scope, in this order. */
import { Allowances } from './allowances.ts';
import { isWellFormedApiKey } from './api-key.ts';
import { KeyCache } from './key-cache.ts';
import { ApiError } from '../answers/problem.ts';
import { networkOf } from './networks.ts';
import type { Request } from 'express';
import type { Scope } from '../../../db/schema.ts';
import type { AppContext } from '../../sessions/app-context.ts';
import type { Principal } from '../handler.ts';
import type { Response } from '../response.ts';
import type { Log } from '../../ops/log.ts';
import type { Metrics } from '../../ops/metrics.ts';

const realm = 'Bearer realm="transcription"';

const keyIn = (authorization = ''): string | undefined => /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
const keyOf = (req: Request): string | undefined => keyIn(req.headers.authorization);

export class Auth {
  readonly #allowances: Allowances;
  readonly #keys: KeyCache;
  readonly #failures: AuthFailures;

  constructor({ config, db, log, metrics }: AppContext) {
    this.#allowances = new Allowances(db);
    this.#keys = new KeyCache(db);
    this.#failures = new AuthFailures(config.authFailuresPerMinute, log, metrics);
  }

  /**
   * Admits a request and counts it against the allowance of its account; from then on the answer, whatever it is, says
   * what is left. What the request asks for is read meanwhile: no answer may leave before `res.locals.counted` has
   * resolved, and a rejection, 429 `rate_limited`, goes before all that is found wrong later.
   *
   * @throws {ApiError} 401 `unauthorized`, 403 `plan_not_eligible`, `account_suspended` or `insufficient_scope`, 429
   *   `rate_limited`
   */
  async admit(req: Request, res: Response, scope: Scope): Promise<Principal> {
    const principal = await this.#authenticate(req, res);
    res.locals.accountId = principal.account_id;
    res.locals.keyId = principal.key_id;
    refuseIneligible(principal);
    const counted = this.#allowances.spend(principal, res);
    res.locals.counted = counted;
    if (this.#allowances.isUsedUp(principal)) await counted;
    // The caller handles the rejection; before it does, it must not end the process.
    else counted.catch(() => {});
    if (!principal.scopes.includes(scope)) throw insufficientScope(scope);
    return principal;
  }

  /**
   * For a request that is held: aborts within a second after its key has lost its right, with the refusal that a new request
   * gets.
   *
   * @param req one that was admitted
   * @param end aborts when the last waiter has left
   */
  whileAllowed(req: Request, scope: Scope, end: AbortSignal): AbortSignal {
    const key = keyOf(req)!;
    const refused = new AbortController();
    const judge = (owner: Principal | undefined) => {
      try {
        if (owner === undefined) throw unauthorized(true);
        refuseIneligible(owner);
        if (!owner.scopes.includes(scope)) throw insufficientScope(scope);
      } catch (refusal) {
        refused.abort(refusal);
      }
    };
    this.#keys.watch(key, judge, end);
    return refused.signal;
  }

  async #authenticate(req: Request, res: Response): Promise<Principal> {
    const key = keyOf(req);
    const principal = key !== undefined && isWellFormedApiKey(key) ? await this.#keys.ownerOf(key) : undefined;
    if (principal !== undefined) return principal;
    if (await this.#failures.count(req.ip ?? '')) res.shouldKeepAlive = false;
    throw unauthorized(key !== undefined, whatIsWrongWith(req.headers.authorization));
  }
}

/** Why the allowance does not admit a request; undefined when it does. @param counted of `res.locals` */
export async function refusalBy(counted: Promise<void> | undefined): Promise<unknown> {
  return counted?.then(
    () => undefined,
    (refusal: unknown) => refusal,
  );
}

/** Unknown, damaged, revoked and expired keys are not told apart. */
const notValid = 'The API key is not valid.';

function whatIsWrongWith(authorization = ''): string {
  if (authorization.trim() === '') return 'The header "Authorization" is missing.';
  if (!/^Bearer( |$)/i.test(authorization)) return 'The header "Authorization" does not begin with "Bearer ".';
  return keyIn(authorization) === undefined ? 'Behind "Bearer " is no key, or more than one word.' : notValid;
}

/** RFC 6750, section 3: no error code when no credential was sent. */
export function unauthorized(keyWasSent: boolean, what = notValid): ApiError {
  const challenge = keyWasSent ? `${realm}, error="invalid_token"` : realm;
  const detail = `${what} Send a valid API key in the header "Authorization: Bearer <API key>".`;
  return new ApiError(401, 'unauthorized', detail, {}, { 'WWW-Authenticate': challenge });
}

/** @throws {ApiError} 403 `plan_not_eligible` or `account_suspended` */
export function refuseIneligible(account: { eligible: boolean; suspended: boolean }): void {
  if (!account.eligible) {
    throw new ApiError(403, 'plan_not_eligible', 'The API is available on the Pro, Team and Enterprise plans.');
  }
  if (account.suspended) throw new ApiError(403, 'account_suspended', 'This account is suspended. Ask support.');
}

function insufficientScope(scope: Scope): ApiError {
  return new ApiError(
    403,
    'insufficient_scope',
    `This key lacks the scope "${scope}".`,
    { requiredScope: scope },
    { 'WWW-Authenticate': `${realm}, error="insufficient_scope", scope="${scope}"` },
  );
}

/**
 * Slows down clients that guess keys. After some 401s in a minute, each further 401 to the same address is delayed by a
 * second, and its connection is closed. At most 100 of them wait at a time. A valid key is never delayed because of its
 * address.
 */

const minuteMs = 60_000;
const delayMs = 1_000;
const maxHeld = 100;
/** With more addresses in a minute, the rest share one count, so that memory stays bounded. */
const maxAddresses = 10_000;

export class AuthFailures {
  readonly #perMinute: number;
  readonly #log: Log;
  readonly #metrics: Metrics;
  #counts = new Map<string, number>();
  /** Runs while there is anything to count. */
  #minute: NodeJS.Timeout | undefined;
  #held = 0;
  #delayed = 0;

  constructor(perMinute: number, log: Log, metrics: Metrics) {
    this.#perMinute = perMinute;
    this.#log = log;
    this.#metrics = metrics;
  }

  /** Counts a 401, and waits if it is to be slow. @returns whether its connection is to be closed */
  async count(address: string): Promise<boolean> {
    this.#minute ??= setTimeout(() => this.#turnMinute(), minuteMs).unref();
    const known = networkOf(address);
    const network = this.#counts.has(known) || this.#counts.size < maxAddresses ? known : 'others';
    const failures = (this.#counts.get(network) ?? 0) + 1;
    this.#counts.set(network, failures);
    if (failures <= this.#perMinute) return false;

    this.#delayed += 1;
    this.#metrics.delayedAuthFailures.inc();
    if (this.#held >= maxHeld) return true;
    this.#held += 1;
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    this.#held -= 1;
    return true;
  }

  #turnMinute(): void {
    if (this.#delayed > 0) {
      this.#log.warn({ delayed: this.#delayed, addresses: this.#counts.size }, 'invalid keys were slowed down');
    }
    this.#counts = new Map();
    this.#delayed = 0;
    this.#minute = undefined;
  }
}
