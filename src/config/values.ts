/** One variable of the environment, the kinds that there are several of, and what their texts mean. */
import { isIP } from 'node:net';
import type { Proxies } from '../recognizers/proxies.ts';

export interface Variable<T> {
  meaning: string;
  /** What applies where it is not set, as people read it. */
  default: string;
  /** The same, as the service takes it. */
  unset: T;
  /** @returns undefined for a wrong value */
  parse: (text: string) => T | undefined;
  /** Said of a wrong value: what it may be. */
  expected: string | ((wrong: string) => string);
  /** A wrong value as a message may show it. Left out: without a password. */
  shown?: (wrong: string) => string;
}

export const integer = (meaning: string, unset: number, minimum: number, maximum: number): Variable<number> => ({
  ...{ meaning, default: String(unset), unset },
  parse: (text) => parseInteger(text, minimum, maximum),
  expected: `a whole number from ${minimum} to ${maximum}`,
});

export const oneOf = <T extends string>(meaning: string, unset: T, choices: readonly T[]): Variable<T> => ({
  ...{ meaning, default: unset, unset },
  parse: (text) => choices.find((choice) => choice === text),
  expected: choices.join(', '),
});

export const text = (meaning: string, unset: string, expected: string): Variable<string> => ({
  ...{ meaning, default: unset, unset, expected },
  parse: (value) => value,
});

/** @param example is an address, too */
export const address = (meaning: string, example: string): Variable<string | undefined> => ({
  ...{ meaning, default: 'none', unset: undefined },
  parse: parseBaseUrl,
  expected: `an address such as ${example}`,
  shown: shownAddress,
});

export const database = (meaning: string, instead: string): Variable<string | undefined> => ({
  ...{ meaning, default: instead, unset: undefined },
  parse: parseDatabaseUrl,
  expected: 'postgres://user:password@host:port/database',
});

/** Where uploaded audio is kept, if not in files: a bucket of an S3-compatible object store, or a part of one. */
export interface ObjectPlace {
  bucket: string;
  /** Stands before every key: empty, or a path that ends in a slash. */
  prefix: string;
  /** Of a self-hosted store. Undefined: AWS's own for the region. */
  endpoint: string | undefined;
  /** Undefined: as AWS's configuration files say. */
  region: string | undefined;
}

/** A wrong value is shown without its password, because messages of the start end up in logs. */
export const withoutPassword = (text: string) => text.replace(/(:\/\/|:).*@/, '$1…@');
/** A value that is no address may be a key in the wrong variable, so it is not shown. */
const shownAddress = (text: string) =>
  URL.canParse(text) && /^\w+:\/\//.test(text) ? withoutPassword(text).replace(/[?#].*/, '?…') : '…';

/** A cosine distance: 0 for the same direction, 2 for the opposite one. */
export function parseDistance(text: string): number | undefined {
  const value = /^\d(\.\d{1,6})?$/.test(text) ? Number(text) : undefined;
  return value !== undefined && value <= 2 ? value : undefined;
}

function parseInteger(text: string, minimum: number, maximum: number): number | undefined {
  const value = Number(text);
  return /^\d+$/.test(text) && value >= minimum && value <= maximum ? value : undefined;
}

export function parseDatabaseUrl(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && /^postgres(ql)?:$/.test(url.protocol) && url.pathname.length > 1 ? text : undefined;
}

/** `s3://bucket`, or with a path behind it. Both have only characters that every store takes as they are. */
const s3 = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:\/[A-Za-z0-9!_*'()-][A-Za-z0-9!_.*'()-]*)*)\/?$/;

export function parseBucket(text: string): Pick<ObjectPlace, 'bucket' | 'prefix'> | undefined {
  const [, bucket, path] = s3.exec(text) ?? [];
  if (bucket === undefined || path === undefined) return undefined;
  return { bucket, prefix: path === '' ? '' : `${path.slice(1)}/` };
}

export const openAiUrl = 'https://api.openai.com/v1';
export const isOpenAis = ({ hostname }: URL) => /(^|\.)openai\.com$/.test(hostname);

/**
 * An address with a user, a password or a query is refused: a key there would get into messages. OpenAI's own server is
 * reached by https only.
 */
function parseBaseUrl(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url !== undefined && /^https?:$/.test(url.protocol) && url.origin + url.pathname === url.href;
  const isReadable = url?.protocol === 'http:' && isOpenAis(url);
  return isPlain && !isReadable ? url.href.replace(/\/+$/, '') : undefined;
}

/** As `parseBaseUrl`. Azure's addresses end in the version of their interface, which is no secret. */
export function parseSpeechUrl(text: string): string | undefined {
  const [, address = text, version = ''] = /^([^?]*)(\?api-version=[\w.-]+)$/.exec(text) ?? [];
  const url = parseBaseUrl(address);
  return url && url.replace(/\/audio\/transcriptions$/, '') + version;
}

/** A key goes into a header, so only the characters of a header are allowed. */
export const parseKey = (text: string) => (/^[!-~]+$/.test(text) ? text : undefined);

export function parseTrustProxy(text: string): number | string[] | undefined {
  const hops = parseInteger(text, 1, 100);
  if (hops !== undefined) return hops;
  const addresses = list(text);
  return addresses.every(isAddressOrSubnet) ? addresses : undefined;
}

function isAddressOrSubnet(text: string): boolean {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(text)) return true;
  const [address = '', bits, ...rest] = text.split('/');
  const version = isIP(address);
  const maximum = version === 4 ? 32 : 128;
  return version !== 0 && rest.length === 0 && (bits === undefined || parseInteger(bits, 1, maximum) !== undefined);
}

export function parseOrigins(text: string): string[] | undefined {
  const origins = list(text);
  return origins.every((origin) => URL.canParse(origin) && new URL(origin).origin === origin) ? origins : undefined;
}

const list = (text: string) => text.split(',').map((entry) => entry.trim());

/** `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` as other programs read them: in capitals or not. */
export function proxiesOf(env: NodeJS.ProcessEnv): Proxies {
  const read = (name: string) => (env[name] ?? env[name.toUpperCase()] ?? '').trim();
  return { http: read('http_proxy'), https: read('https_proxy'), none: read('no_proxy') };
}

/** @returns what is wrong with their addresses, which may hold a password and are not shown; undefined: nothing */
export const faultOf = ({ http, https }: Proxies): string | undefined =>
  [http, https].every((address) => address === '' || isProxy(URL.parse(address)))
    ? undefined
    : 'HTTPS_PROXY or HTTP_PROXY: expected an address such as http://proxy.example.com:3128';

const isProxy = (url: URL | null) => url !== null && ['http:', 'https:', 'socks5:'].includes(url.protocol);
