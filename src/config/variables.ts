/** Every variable that the service reads: the kinds that there are several of, the table that `--help` shows, and what the texts mean. */
import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { canonicalTag } from '../languages/tags.ts';
import { recognizerNames } from '../recognizers/names.ts';
import { chooseModel } from '../recognizers/sherpa-onnx/known-models.ts';
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
  expected: string;
  /** A wrong value as a message may show it. Left out: without a password. */
  shown?: (wrong: string) => string;
}

const integer = (meaning: string, unset: number, minimum: number, maximum: number): Variable<number> => ({
  ...{ meaning, default: String(unset), unset },
  parse: (text) => parseInteger(text, minimum, maximum),
  expected: `a whole number from ${minimum} to ${maximum}`,
});

const oneOf = <T extends string>(meaning: string, unset: T, choices: readonly T[]): Variable<T> => ({
  ...{ meaning, default: unset, unset },
  parse: (text) => choices.find((choice) => choice === text),
  expected: choices.join(', '),
});

const text = (meaning: string, unset: string, expected: string): Variable<string> => ({
  ...{ meaning, default: unset, unset, expected },
  parse: (value) => value,
});

/** @param example is an address, too */
const address = (meaning: string, example: string): Variable<string | undefined> => ({
  ...{ meaning, default: 'none', unset: undefined },
  parse: parseBaseUrl,
  expected: `an address such as ${example}`,
  shown: shownAddress,
});

const database = (meaning: string, instead: string): Variable<string | undefined> => ({
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
function parseDistance(text: string): number | undefined {
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

function parseBucket(text: string): Pick<ObjectPlace, 'bucket' | 'prefix'> | undefined {
  const [, bucket, path] = s3.exec(text) ?? [];
  if (bucket === undefined || path === undefined) return undefined;
  return { bucket, prefix: path === '' ? '' : `${path.slice(1)}/` };
}

const openAiUrl = 'https://api.openai.com/v1';
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
function parseSpeechUrl(text: string): string | undefined {
  const [, address = text, version = ''] = /^([^?]*)(\?api-version=[\w.-]+)$/.exec(text) ?? [];
  const url = parseBaseUrl(address);
  return url && url.replace(/\/audio\/transcriptions$/, '') + version;
}

/** A key goes into a header, so only the characters of a header are allowed. */
const parseKey = (text: string) => (/^[!-~]+$/.test(text) ? text : undefined);

function parseTrustProxy(text: string): number | string[] | undefined {
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

function parseOrigins(text: string): string[] | undefined {
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
export const proxyProblem = ({ http, https }: Proxies): string | undefined =>
  [http, https].every((address) => address === '' || isProxy(URL.parse(address)))
    ? undefined
    : 'HTTPS_PROXY or HTTP_PROXY: expected an address such as http://proxy.example.com:3128';

const isProxy = (url: URL | null) => url !== null && ['http:', 'https:', 'socks5:'].includes(url.protocol);

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const logAddresses = ['full', 'prefix', 'none'] as const;

const audioStore: Variable<'file:' | Pick<ObjectPlace, 'bucket' | 'prefix'>> = {
  ...{
    meaning: 'where uploaded audio is kept: below DATA_DIR, or s3://bucket/prefix',
    default: 'file:',
    unset: 'file:',
  },
  parse: (value) => (value === 'file:' ? value : parseBucket(value)),
  expected: 'file:, or s3://bucket/prefix',
};

const trustProxy: Variable<false | number | string[]> = {
  ...{ meaning: 'proxies whose X-Forwarded-For counts: hops, or addresses and subnets', default: 'off', unset: false },
  parse: parseTrustProxy,
  expected: 'a number of hops, or addresses and subnets separated by commas',
};

const corsOrigins: Variable<string[]> = {
  ...{ meaning: 'origins of browser clients, separated by commas', default: 'none', unset: [] },
  parse: parseOrigins,
  expected: 'origins such as https://app.example.com, separated by commas',
};

const openAiKey: Variable<string | undefined> = {
  ...{ meaning: "that server's key; OpenAI's own server needs one", default: 'none', unset: undefined },
  parse: parseKey,
  expected: 'a key without spaces',
  shown: () => '…',
};

export const variables = {
  PORT: integer('port of the API', 8080, 0, 65535),
  HOST: {
    ...text('address on which the service listens', '127.0.0.1', 'an address to listen on'),
    parse: (value: string) => (/^[\w.:-]+$/.test(value) ? value : undefined),
  },
  OPS_PORT: integer('port of /healthz, /readyz and /metrics (Prometheus)', 9090, 0, 65535),
  DATABASE_URL: database('PostgreSQL 13 or newer: postgres://user:password@host:port/database', 'embedded'),
  DATABASE_DIRECT_URL: database('the server itself, where DATABASE_URL leads to a pooler', 'DATABASE_URL'),
  DATA_DIR: text('folder of audio, decoded audio, models and the embedded database', '.data', 'a folder'),
  AUDIO_STORE: audioStore,
  // AWS's own tools read these three, too. They count only with s3://.
  AWS_ENDPOINT_URL_S3: address('address of the object store', 'https://s3.example.com'),
  AWS_ENDPOINT_URL: address('the same, where AWS_ENDPOINT_URL_S3 is not set', 'https://s3.example.com'),
  AWS_REGION: {
    ...text('region of the object store; at AWS itself it has no default', 'us-east-1', 'a region'),
    unset: undefined,
  },
  RECOGNIZER: oneOf(`what turns audio into words: ${recognizerNames.join(' or ')}`, 'sherpa-onnx', recognizerNames),
  RECOGNIZER_LANGUAGE: {
    ...text(
      'language of recordings whose upload names none, such as de',
      'auto',
      'auto, or a language such as de, en-GB or zh-Hant',
    ),
    parse: (value: string) => (value === 'auto' ? value : canonicalTag(value)),
  },
  SHERPA_ONNX_MODEL: {
    ...text(
      'model of sherpa-onnx: a name from npm run model -- list, or a folder',
      'moonshine-tiny',
      'a model that recognizes words, of those that "npm run model -- list" shows, or the folder of one',
    ),
    parse: (value: string) => (chooseModel(value, '') === undefined ? undefined : value),
  },
  RECOGNIZER_IDLE_MINUTES: integer('minutes for which sherpa-onnx keeps an idle model', 10, 1, 10_080),
  DIARIZATION_THRESHOLD: {
    ...{ meaning: "how different two speakers' voices are, from 0 to 2", default: '0.5', unset: 0.5 },
    parse: parseDistance,
    expected: 'a number from 0 to 2, such as 0.7',
  },
  // Other programs read these three, too. They count only with RECOGNIZER=openai.
  OPENAI_BASE_URL: {
    ...address('server of RECOGNIZER=openai, up to /audio/transcriptions', openAiUrl),
    ...{ default: openAiUrl, unset: openAiUrl, parse: parseSpeechUrl },
  },
  OPENAI_API_KEY: openAiKey,
  OPENAI_MODEL: text('model of that server', 'whisper-1', 'the name of a model'),
  OPENAI_MAX_REQUESTS: integer('requests that it gets at once at most; fewer where they get slower', 256, 1, 4_096),
  WORKER_CONCURRENCY: {
    ...integer('recordings that use the cores at once; more may wait for a server', availableParallelism(), 1, 256),
    default: 'number of cores',
  },
  LOG_LEVEL: oneOf('fatal, error, warn, info, debug, trace or silent', 'info', logLevels),
  LOG_ADDRESSES: oneOf("how much of clients' addresses the log names: full, prefix or none", 'prefix', logAddresses),
  PUBLIC_URL: address(
    'where clients find the service, if a proxy serves it below a path',
    'https://example.com/speech',
  ),
  TRUST_PROXY: trustProxy,
  CORS_ORIGINS: corsOrigins,
  AUTH_FAILURES_PER_MINUTE: integer(
    'answers 401 that an address gets in a minute before they slow down',
    300,
    1,
    1_000_000,
  ),
  MIN_FREE_DISK: integer(
    'bytes that an upload must leave free on the disk of DATA_DIR',
    1024 ** 3,
    0,
    Number.MAX_SAFE_INTEGER,
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: address('OpenTelemetry collector that gets the spans', 'http://127.0.0.1:4318'),
} satisfies Record<string, Variable<unknown>>;

export type Values = {
  [Name in keyof typeof variables]: (typeof variables)[Name] extends Variable<infer Value> ? Value : never;
};

const rows = [
  ['Variable', 'Default', 'Meaning'],
  ...Object.entries(variables).map(([name, variable]) => [name, variable.default, variable.meaning]),
] as [string, string, string][];
const widthOf = (column: 0 | 1) => Math.max(...rows.map((row) => row[column].length));
const [nameWidth, defaultWidth] = [widthOf(0), widthOf(1)];

/** What `--help` prints: how the service is started, and every variable that it reads. */
export const help = `Usage: npm start              the API and a worker in one process
       npm run start:api      the API alone
       npm run start:worker   a worker alone

Each takes its settings from the environment: PORT=8081 npm start

${rows.map(([name, value, meaning]) => `${name.padEnd(nameWidth)}  ${value.padEnd(defaultWidth)}  ${meaning}\n`).join('')}`;
