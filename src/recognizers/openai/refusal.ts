/** What a server says instead of a transcript, why it could not be asked, and what follows from either. */

/**
 * The one rule for what an error means. `no room`: the server hears nobody now, and no recording is to blame. `passing`: the same
 * request may succeed later. `operators`: every request would fail until the operator has done something. `final`:
 * it would fail again.
 */
export type Verdict = 'no room' | 'passing' | 'operators' | 'final';

/** OpenAI's codes for an account that has to pay, or to raise a limit, first, and for an unknown model. */
const operatorsCodes = new Set([
  ...['insufficient_quota', 'billing_hard_limit_reached', 'billing_not_active'],
  ...['invalid_api_key', 'model_not_found'],
]);
/** For the key (401, 403), money (402), address or model (404, 405) and a proxy's password (407). */
const operatorsStatuses = new Set([401, 402, 403, 404, 405, 407]);
const noRoom = new Set([429, 503]);

export function judge(error: unknown): Verdict {
  if (isOfCertificate(error)) return 'operators';
  // What was answered, and can't be read, would be answered again.
  if (!(error instanceof Refusal)) return error instanceof TypeError ? 'passing' : 'final';
  const { status, code } = error;
  // A redirect is a wrong address.
  const isRedirect = status >= 300 && status < 400;
  if (isRedirect || operatorsStatuses.has(status) || operatorsCodes.has(code)) return 'operators';
  if (noRoom.has(status)) return 'no room';
  // RFC 9110, section 15.6, and as OpenAI's own client does.
  return [408, 409].includes(status) || status >= 500 ? 'passing' : 'final';
}

/** Enough to know what is wrong. */
const longestText = 10_000;

/** An answer without a transcript. Its message is the status and what the server said. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  /** The field of the request that is to blame. */
  readonly param: string;
  readonly code: string;
  readonly #headers: Headers;

  constructor(status: number, headers: Headers, text: string) {
    const { said, param, code } = inAnyForm(text.slice(0, longestText));
    const limits = [...headers].filter(([name]) => noRoom.has(status) && /^(retry-after|x-ratelimit-)/.test(name));
    super([status, said, ...limits.map(([name, value]) => `(${name}: ${value})`)].join(' ').trim());
    this.status = status;
    this.param = param;
    this.code = code;
    this.#headers = headers;
  }

  /** How long the server asks to wait (RFC 9110, section 10.2.3); undefined where it does not. */
  get retryAfterMs(): number | undefined {
    const inMs = Number(this.#headers.get('retry-after-ms') ?? NaN);
    const given = this.#headers.get('retry-after') ?? '';
    const ms = inMs >= 0 ? inMs : /^\d+$/.test(given) ? Number(given) * 1000 : Date.parse(given) - Date.now();
    return ms >= 0 ? ms : undefined;
  }
}

/** Whether the server refuses a request because of a field. @param field in what it says */
export const isRefusalOf = (error: unknown, field: RegExp): boolean =>
  error instanceof Refusal && [400, 422].includes(error.status) && field.test(`${error.param} ${error.message}`);

/** OpenAI writes `error.message`, vLLM `message`, FastAPI `detail`, others `error`, proxies a page. */
function inAnyForm(text: string): { said: string; param: string; code: string } {
  const body = parsed(text);
  const error = fieldsOf(body.error);
  const said = [error.message, body.error, body.message, body.detail].find((each) => typeof each === 'string');
  return { said: said ?? text, param: String(error.param), code: String(error.code) };
}

export type Fields = Readonly<Record<string, unknown>>;
export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {};

function parsed(text: string): Fields {
  try {
    return fieldsOf(JSON.parse(text));
  } catch {
    return {};
  }
}

/** OpenSSL's and Node's codes for a certificate that has expired, is not trusted, or is of another server. */
const ofCertificate = /^(CERT_|ERR_TLS_CERT_|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED_CERT|UNABLE_TO_(GET_ISSUER|VERIFY))/;

/** Whether nothing was asked, because of the server's certificate. */
const isOfCertificate = (error: unknown): boolean => ofCertificate.test(codeOf(innermost(error)));

/** Whether the audio could not be read to its end while it was sent. */
export const isOfDisk = (error: unknown): boolean => {
  const reason = innermost(error);
  return Error.isError(reason) && reason.name === 'NotReadableError';
};

/** The innermost reason, such as `connect ECONNREFUSED 127.0.0.1:8000`. */
export function reasonOf(error: unknown): string {
  const reason = innermost(error);
  return Error.isError(reason) ? reason.message || codeOf(reason) : String(reason);
}

function innermost(error: unknown): unknown {
  let reason = error;
  while (Error.isError(reason) && Error.isError(reason.cause)) reason = reason.cause;
  return reason;
}

const codeOf = (error: unknown): string => (Error.isError(error) && 'code' in error ? String(error.code) : '');
