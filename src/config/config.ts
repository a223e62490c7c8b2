/** The one reader of the environment. Every wrong variable is reported at once. */
import { resolve } from 'node:path';
import { chooseModel } from '../recognizers/sherpa-onnx/known-models.ts';
import { proxyProblem, isOpenAis, proxiesOf, variables, withoutPassword } from './variables.ts';
import type { SpeechServer } from '../recognizers/openai/exchange.ts';
import type { RecognizerSettings } from '../recognizers/select.ts';
import type { ObjectPlace, Values, Variable } from './variables.ts';

/** Each variable beside the kind of its own value. */
const known: { [Name in keyof Values]: Variable<Values[Name]> } = variables;

/** What `variables.ts` says of each variable is not said again. */
export interface Config extends RecognizerSettings {
  host: string;
  port: number;
  opsPort: number;
  /** Undefined: the embedded PostgreSQL below `dataDir`. */
  databaseUrl: string | undefined;
  /** Where `databaseUrl` leads to a pooler: the server itself. */
  databaseDirectUrl: string | undefined;
  /** Where uploaded audio is kept. Undefined: in files below `dataDir`. */
  objectPlace: ObjectPlace | undefined;
  workerConcurrency: number;
  logLevel: Values['LOG_LEVEL'];
  logAddresses: Values['LOG_ADDRESSES'];
  /** Where clients find the service, as a proxy serves it. Undefined: not set. */
  publicUrl: string | undefined;
  /** Its path without a slash at the end: what the proxy takes away before `/v1`. */
  publicPath: string;
  /** Express's `trust proxy`: false, a number of hops, or addresses. */
  trustProxy: false | number | string[];
  corsOrigins: string[];
  authFailuresPerMinute: number;
  /** Where spans go (OpenTelemetry). Undefined: nowhere. */
  otlpEndpoint: string | undefined;
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
  const read = <Name extends keyof Values>(name: Name): Values[Name] => {
    const { unset, parse, expected, shown = withoutPassword } = known[name];
    const text = env[name]?.trim();
    if (text === undefined || text === '') return unset;
    const value = parse(text);
    if (value !== undefined) return value;
    faults.push(`${name}=${shown(text)}: expected ${expected}`);
    return unset;
  };
  const objectPlace = (): ObjectPlace | undefined => {
    const bucket = read('AUDIO_STORE');
    if (bucket === 'file:') return undefined;
    const endpoint = read('AWS_ENDPOINT_URL_S3') ?? read('AWS_ENDPOINT_URL');
    // A self-hosted store has one region, whatever its name.
    return { ...bucket, endpoint, region: read('AWS_REGION') ?? (endpoint && 'us-east-1') };
  };
  const speechServer = (): SpeechServer => ({
    baseUrl: read('OPENAI_BASE_URL'),
    apiKey: read('OPENAI_API_KEY'),
    model: read('OPENAI_MODEL'),
    proxies: proxiesOf(env),
  });
  const unlessAuto = (value: string) => (value === 'auto' ? undefined : value);

  const publicUrl = read('PUBLIC_URL');
  const dataDir = resolve(read('DATA_DIR'));
  const config: Config = {
    host: read('HOST'),
    port: read('PORT'),
    opsPort: read('OPS_PORT'),
    databaseUrl: read('DATABASE_URL'),
    databaseDirectUrl: read('DATABASE_DIRECT_URL'),
    dataDir,
    objectPlace: objectPlace(),
    recognizer: read('RECOGNIZER'),
    recognizerLanguage: unlessAuto(read('RECOGNIZER_LANGUAGE')),
    sherpaOnnxModel: chooseModel(read('SHERPA_ONNX_MODEL'), dataDir)!,
    recognizerIdleMinutes: read('RECOGNIZER_IDLE_MINUTES'),
    diarizationThreshold: read('DIARIZATION_THRESHOLD'),
    openai: env['RECOGNIZER']?.trim() === 'openai' ? speechServer() : undefined,
    openAiMaxRequests: read('OPENAI_MAX_REQUESTS'),
    workerConcurrency: read('WORKER_CONCURRENCY'),
    logLevel: read('LOG_LEVEL'),
    logAddresses: read('LOG_ADDRESSES'),
    publicUrl,
    publicPath: publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/$/, ''),
    trustProxy: read('TRUST_PROXY'),
    corsOrigins: read('CORS_ORIGINS'),
    authFailuresPerMinute: read('AUTH_FAILURES_PER_MINUTE'),
    otlpEndpoint: read('OTEL_EXPORTER_OTLP_ENDPOINT'),
    minFreeDisk: read('MIN_FREE_DISK'),
  };
  if (env['API_PROCESSES']?.trim())
    faults.push(
      'API_PROCESSES is gone: run several start:api behind scripts/deploy/haproxy.cfg instead ("Several processes" in OPERATIONS.md)',
    );
  if (env['VALIDATE_RESPONSES']?.trim())
    faults.push('VALIDATE_RESPONSES is gone: leave it out; the tests check every answer against the contract');
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
  const proxyFault = config.openai?.proxies && proxyProblem(config.openai.proxies);
  if (proxyFault !== undefined) faults.push(proxyFault);
  if (faults.length > 0) throw new ConfigError(faults);
  return config;
}
