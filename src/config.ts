/** The one reader of the environment. Every wrong variable is reported at once. */
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import {
  isOpenAis,
  openAiUrl,
  parseBaseUrl,
  parseBucket,
  parseDatabaseUrl,
  parseDistance,
  parseInteger,
  parseKey,
  parseOrigins,
  parseTrustProxy,
  shownAddress,
  withoutPassword,
} from './config-values.ts';
import { canonicalTag } from './languages.ts';
import { recognizerNames, recognizersInsteadOf } from './recognizers/names.ts';
import { chooseModel } from './recognizers/sherpa-onnx/installed-models.ts';
import type { ObjectPlace } from './audio-place.ts';
import type { SpeechServer } from './recognizers/openai/speech-server.ts';
import type { RecognizerName } from './recognizers/names.ts';
import type { ChosenModel } from './recognizers/sherpa-onnx/installed-models.ts';

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

export interface Config {
  host: string;
  port: number;
  /** The port of `/healthz`, `/readyz` and `/metrics`. The host is the same. */
  opsPort: number;
  /** How many processes answer on `port`. */
  apiProcesses: number;
  /** Undefined: the embedded PostgreSQL below `dataDir`. */
  databaseUrl: string | undefined;
  /** Where `databaseUrl` leads to a pooler: the server itself. */
  databaseDirectUrl: string | undefined;
  dataDir: string;
  /** Where uploaded audio is kept. Undefined: in files below `dataDir`. */
  objectPlace: ObjectPlace | undefined;
  recognizer: RecognizerName;
  /** What a recording is in whose upload says no language (BCP 47). Undefined: the recognizer finds out, if it can. */
  recognizerLanguage: string | undefined;
  /** Only for `sherpa-onnx`. */
  sherpaOnnxModel: ChosenModel;
  /** How long a process of `sherpa-onnx` keeps its model in memory while it has nothing to do. */
  recognizerIdleMinutes: number;
  diarizationThreshold: number;
  /** Only for `openai`. */
  openai: SpeechServer | undefined;
  /** Jobs that this process runs at once. */
  workerConcurrency: number;
  logLevel: (typeof logLevels)[number];
  /** Express's `trust proxy`: false, a number of hops, or addresses. */
  trustProxy: false | number | string[];
  corsOrigins: string[];
  /** How many answers 401 an address gets in a minute before further ones are delayed. */
  authFailuresPerMinute: number;
  /** For developers: an answer that breaks the contract is logged and becomes a 500. */
  validateResponses: boolean;
  /** Where spans go (OpenTelemetry). Undefined: nowhere. */
  otlpEndpoint: string | undefined;
  /** Bytes that an upload must leave free on the disk of `dataDir`. */
  minFreeDisk: number;
}

export class ConfigError extends Error {
  constructor(faults: string[]) {
    super(`The configuration is wrong:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

/**
 * @throws {ConfigError} that names every wrong variable, what it holds and what it may hold
 */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const faults: string[] = [];
  const read = <T>(
    name: string,
    fallback: T,
    parse: (text: string) => T | undefined,
    expected: string,
    shown = withoutPassword,
  ): T => {
    const text = env[name]?.trim();
    if (text === undefined || text === '') return fallback;
    const value = parse(text);
    if (value === undefined) faults.push(`${name}=${shown(text)}: expected ${expected}`);
    return value ?? fallback;
  };
  const integer = (name: string, fallback: number, minimum: number, maximum: number) =>
    read(
      name,
      fallback,
      (text) => parseInteger(text, minimum, maximum),
      `a whole number from ${minimum} to ${maximum}`,
    );
  const oneOf = <T extends string>(name: string, fallback: T, choices: readonly T[], expected = choices.join(', ')) =>
    read(name, fallback, (text) => choices.find((choice) => choice === text), expected);

  const database = (name: string) =>
    read<string | undefined>(name, undefined, parseDatabaseUrl, 'postgres://user:password@host:port/database');

  const speechServer = (): SpeechServer => ({
    baseUrl: read('OPENAI_BASE_URL', openAiUrl, parseBaseUrl, `an address such as ${openAiUrl}`, shownAddress),
    apiKey: read<string | undefined>('OPENAI_API_KEY', undefined, parseKey, 'a key without spaces', () => '…'),
    model: read('OPENAI_MODEL', 'whisper-1', (text) => text, 'the name of a model'),
  });

  const server = (name: string, fallback: string | undefined) =>
    read(name, fallback, parseBaseUrl, 'an address such as https://s3.example.com', shownAddress);
  /** As AWS's own tools read them. A self-hosted store has one region, whatever its name. */
  const objectServer = (): Pick<ObjectPlace, 'endpoint' | 'region'> => {
    const endpoint = server('AWS_ENDPOINT_URL_S3', server('AWS_ENDPOINT_URL', undefined));
    const region = read('AWS_REGION', endpoint && 'us-east-1', (text) => text, 'a region');
    return { endpoint, region };
  };
  const bucket = read<'file:' | Pick<ObjectPlace, 'bucket' | 'prefix'>>(
    'AUDIO_STORE',
    'file:',
    (text) => (text === 'file:' ? text : parseBucket(text)),
    'file:, or s3://bucket/prefix',
  );

  const language = read(
    'RECOGNIZER_LANGUAGE',
    'auto',
    (text) => (text === 'auto' ? text : canonicalTag(text)),
    'auto, or a language such as de, en-GB or zh-Hant',
  );
  const dataDir = resolve(read('DATA_DIR', '.data', (text) => text, 'a folder'));
  const config: Config = {
    host: read('HOST', '127.0.0.1', (text) => (/^[\w.:-]+$/.test(text) ? text : undefined), 'an address to listen on'),
    port: integer('PORT', 8080, 0, 65535),
    opsPort: integer('OPS_PORT', 9090, 0, 65535),
    apiProcesses: read(
      'API_PROCESSES',
      1,
      (text) => (text === 'auto' ? availableParallelism() : parseInteger(text, 1, 256)),
      'a whole number from 1 to 256, or auto (the number of cores)',
    ),
    databaseUrl: database('DATABASE_URL'),
    databaseDirectUrl: database('DATABASE_DIRECT_URL'),
    dataDir,
    // Other programs read AWS's variables too.
    objectPlace: bucket === 'file:' ? undefined : { ...bucket, ...objectServer() },
    recognizer: oneOf('RECOGNIZER', 'sherpa-onnx', recognizerNames, recognizersInsteadOf(env['RECOGNIZER'])),
    recognizerLanguage: language === 'auto' ? undefined : language,
    sherpaOnnxModel: read(
      'SHERPA_ONNX_MODEL',
      chooseModel('moonshine-tiny', dataDir)!,
      (text) => chooseModel(text, dataDir),
      'a model that recognizes words, of those that "npm run model -- list" shows, or the folder of one',
    ),
    recognizerIdleMinutes: integer('RECOGNIZER_IDLE_MINUTES', 10, 1, 10_080),
    diarizationThreshold: read('DIARIZATION_THRESHOLD', 0.9, parseDistance, 'a number from 0 to 2, such as 0.7'),
    // Other programs read these variables too, so a wrong value counts only when this recognizer is chosen.
    openai: env['RECOGNIZER']?.trim() === 'openai' ? speechServer() : undefined,
    workerConcurrency: integer('WORKER_CONCURRENCY', availableParallelism(), 1, 256),
    logLevel: oneOf('LOG_LEVEL', 'info', logLevels),
    trustProxy: read<Config['trustProxy']>(
      'TRUST_PROXY',
      false,
      parseTrustProxy,
      'a number of hops, or addresses and subnets separated by commas',
    ),
    corsOrigins: read('CORS_ORIGINS', [], parseOrigins, 'origins such as https://app.example.com, separated by commas'),
    authFailuresPerMinute: integer('AUTH_FAILURES_PER_MINUTE', 300, 1, 1_000_000),
    validateResponses: oneOf('VALIDATE_RESPONSES', '0', ['0', '1']) === '1',
    otlpEndpoint: read<string | undefined>(
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      undefined,
      parseBaseUrl,
      'an address such as http://127.0.0.1:4318',
      shownAddress,
    ),
    minFreeDisk: integer('MIN_FREE_DISK', 1024 ** 3, 0, Number.MAX_SAFE_INTEGER),
  };
  if (config.port !== 0 && config.port === config.opsPort) faults.push(`OPS_PORT=${config.opsPort}: is taken by PORT`);
  if (config.objectPlace !== undefined && !env['DATABASE_URL']?.trim())
    faults.push(
      `AUDIO_STORE=${env['AUDIO_STORE']}: needs a DATABASE_URL, because the embedded database keeps its audio beside it (file:)`,
    );
  if (config.databaseDirectUrl !== undefined && !env['DATABASE_URL']?.trim())
    faults.push(
      'DATABASE_DIRECT_URL is set without DATABASE_URL: it names the server behind the pooler of DATABASE_URL',
    );
  const needsKey = config.openai !== undefined && isOpenAis(new URL(config.openai.baseUrl));
  if (needsKey && config.openai?.apiKey === undefined && !faults.some((fault) => fault.startsWith('OPENAI_')))
    faults.push('OPENAI_API_KEY is not set: RECOGNIZER=openai needs a key, or a server of your own in OPENAI_BASE_URL');
  if (faults.length > 0) throw new ConfigError(faults);
  return config;
}
