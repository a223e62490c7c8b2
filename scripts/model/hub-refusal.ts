import { Refusal } from '../terminal/refusal.ts';

const withoutInternet = 'Without internet: npm run model -- download NAME --from FOLDER';

/** The hub answered, but with an error. */
export class HubRefusal extends Refusal {
  readonly status: number;

  constructor({ origin, pathname }: URL, status: number, hasToken: boolean) {
    super(`${origin}${pathname} was answered with ${status}: ${reasonOf(status, hasToken)}`);
    this.status = status;
  }
}

function reasonOf(status: number, hasToken: boolean): string {
  if (status === 401 || status === 403) {
    return hasToken
      ? 'HF_TOKEN does not open it. Is it still valid, and were the terms of the model accepted with its account?'
      : 'it is not there, or needs a token. If you have one, set HF_TOKEN.';
  }
  if (status === 404) return 'it is not there. A mirror (HF_ENDPOINT) may lack it.';
  if (status === 429) return 'too many requests. Wait a while, or set HF_TOKEN; what came already is kept.';
  if (status >= 500) return 'the server is in trouble. Try again later; what came already is kept.';
  return 'this was not expected. Is HF_ENDPOINT right?';
}

/** Nobody answered: there is no network, or a proxy is missing in the environment or blocks the request. */
export function unreachable(origin: string, cause: unknown): Refusal {
  const lines = [
    `${origin} can not be reached (${atTheBottomOf(cause)}).`,
    'Behind a proxy, set HTTPS_PROXY; for a mirror, HF_ENDPOINT.',
    withoutInternet,
  ];
  return new Refusal(lines.join('\n'));
}

/** The innermost message. In errors of the network, the cause is the helpful one. */
export function atTheBottomOf(error: unknown): string {
  if (error instanceof AggregateError) return atTheBottomOf(error.errors[0]);
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message || error.name : atTheBottomOf(error.cause);
}
