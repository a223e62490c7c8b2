/** Every variable that the service reads, in the order in which `--help` shows them. */
import { availableParallelism } from 'node:os';
import { canonicalTag } from '../languages/tags.ts';
import { recognizerNames, recognizersInsteadOf } from '../recognizers/names.ts';
import { chooseModel } from '../recognizers/sherpa-onnx/installed-models.ts';
import {
  openAiUrl,
  parseBucket,
  parseDistance,
  parseKey,
  parseOrigins,
  parseSpeechUrl,
  parseTrustProxy,
  address,
  database,
  integer,
  oneOf,
  text,
} from './values.ts';
import type { ObjectPlace, Variable } from './values.ts';

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
  RECOGNIZER: {
    ...oneOf(`what turns audio into words: ${recognizerNames.join(' or ')}`, 'sherpa-onnx', recognizerNames),
    expected: recognizersInsteadOf,
  },
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

/** What each variable says once it is read. */
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
