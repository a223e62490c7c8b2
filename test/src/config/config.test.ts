/** The environment: defaults, the edges of each variable, and all faults in one message. */
import { spawnSync } from 'node:child_process';
import { ConfigError, readConfig } from '../../../src/config/config.ts';
import { variables } from '../../../src/config/variables.ts';
import { projectFolder } from '../../architecture/source-files.ts';

test('nothing set → the documented defaults', () => {
  expect(readConfig({})).toMatchObject({
    host: '127.0.0.1',
    port: 8080,
    opsPort: 9090,
    databaseUrl: undefined,
    dataDir: `${process.cwd()}/.data`,
    objectPlace: undefined,
    recognizer: 'sherpa-onnx',
    sherpaOnnxModel: { name: 'moonshine-tiny' },
    logLevel: 'info',
    trustProxy: false,
    corsOrigins: [],
    authFailuresPerMinute: 300,
    minFreeDisk: 1024 ** 3,
    recognizerIdleMinutes: 10,
    diarizationThreshold: 0.5,
    recognizerLanguage: undefined,
  });
  expect(readConfig({}).workerConcurrency).toBeGreaterThanOrEqual(1);
  expect(readConfig({ PORT: '', HOST: '  ', RECOGNIZER: '' })).toEqual(readConfig({}));
});

test.each<[string, string, object]>([
  ['PORT', '0', { port: 0 }],
  ['PORT', ' 65535 ', { port: 65535 }],
  ['DATABASE_URL', 'postgresql:///d?host=/run', { databaseUrl: 'postgresql:///d?host=/run' }],
  ['TRUST_PROXY', '2', { trustProxy: 2 }],
  ['TRUST_PROXY', 'loopback, 10.0.0.0/8,fd00::/8', { trustProxy: ['loopback', '10.0.0.0/8', 'fd00::/8'] }],
  [
    'CORS_ORIGINS',
    'https://a.example, http://localhost:3000',
    { corsOrigins: ['https://a.example', 'http://localhost:3000'] },
  ],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://[::1]:4318/', { otlpEndpoint: 'http://[::1]:4318' }],
  ['AUDIO_STORE', 'file:', { objectPlace: undefined }],
  ['RECOGNIZER_LANGUAGE', 'ZH-hant', { recognizerLanguage: 'zh-Hant' }],
])('%s=%s → accepted', (name, value, expected) => expect(readConfig({ [name]: value })).toMatchObject(expected));

const refused = {
  PORT: ['abc', '-1', '65536'],
  OPS_PORT: ['8080'],
  HOST: ['a host', 'http://localhost'],
  DATABASE_URL: ['nonsense', 'postgres://h', 'postgres://h:99999/d'],
  DATABASE_DIRECT_URL: ['nonsense'],
  RECOGNIZER: ['foo', 'constructor'],
  DIARIZATION_THRESHOLD: ['2.5', '-1'],
  RECOGNIZER_LANGUAGE: ['german', 'xx-klingon', 'de,en'],
  WORKER_CONCURRENCY: ['0', '257'],
  TRUST_PROXY: ['0', 'true', '10.0.0.0/33', '0.0.0.0/0', '10.0.0.0/8,'],
  CORS_ORIGINS: ['*', 'https://a.example/', 'a.example'],
  MIN_FREE_DISK: ['-1', '9007199254740993'],
  AUDIO_STORE: ['s3://Bucket/prefix', 's3://bucket/a/../b', 'file:///audio'],
};
test.each(Object.entries(refused).flatMap(([name, values]) => values.map((value) => [name, value] as const)))(
  '%s=%s → refused, named with what it may hold',
  (name, value) => {
    const read = () => readConfig({ [name]: value });
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(`The configuration is wrong:\n  - ${name}=${value}: `);
  },
);

test.each([
  ['s3://audio', {}, { prefix: '', endpoint: undefined, region: undefined }],
  ['s3://audio/a/b.c/', { AWS_REGION: 'eu-north-1' }, { prefix: 'a/b.c/', endpoint: undefined, region: 'eu-north-1' }],
  [
    's3://audio/a',
    { AWS_ENDPOINT_URL: 'http://nas:9000', AWS_ENDPOINT_URL_S3: 'https://s3.example.com/' },
    { prefix: 'a/', endpoint: 'https://s3.example.com', region: 'us-east-1' },
  ],
])('AUDIO_STORE=%s with %j → a bucket, and whose', (AUDIO_STORE, env, place) => {
  const needed = { DATABASE_URL: 'postgres://h/d', AUDIO_STORE };
  expect(readConfig({ ...needed, ...env }).objectPlace).toEqual({ bucket: 'audio', ...place });
  // Other programs' variables.
  expect(readConfig(env).objectPlace).toBeUndefined();
});

test('AUDIO_STORE=s3://… without DATABASE_URL, or with a wrong address → faults that say what to do, without secrets', () => {
  expect(() => readConfig({ AUDIO_STORE: 's3://audio' })).toThrow(
    'AUDIO_STORE=s3://audio: needs a DATABASE_URL, because',
  );
  const read = () => readConfig({ AUDIO_STORE: 's3://audio', AWS_ENDPOINT_URL: 'http://me:secret@nas:9000' });
  expect(read).toThrow('AWS_ENDPOINT_URL=http://…@nas:9000: expected an address such as https://');
  expect(read).not.toThrow('secret');
});

test('DATABASE_DIRECT_URL → taken beside a DATABASE_URL, and a fault without one', () => {
  const DATABASE_DIRECT_URL = 'postgres://h:5432/d';
  expect(readConfig({ DATABASE_URL: 'postgres://pooler:6432/d', DATABASE_DIRECT_URL })).toMatchObject({
    databaseUrl: 'postgres://pooler:6432/d',
    databaseDirectUrl: DATABASE_DIRECT_URL,
  });
  expect(() => readConfig({ DATABASE_DIRECT_URL })).toThrow('DATABASE_DIRECT_URL is set without DATABASE_URL');
});

test('a process with three wrong variables → one message that names them all, exit code 2', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['src/start-api.ts'], {
    env: { PATH: process.env.PATH, PORT: 'abc', DATABASE_URL: 'nonsense', RECOGNIZER: 'foo' },
    cwd: projectFolder,
    encoding: 'utf8',
  });
  expect([status, stdout]).toEqual([2, '']);
  expect(stderr.trimEnd().split('\n')).toEqual([
    'The configuration is wrong:',
    '  - PORT=abc: expected a whole number from 0 to 65535',
    '  - DATABASE_URL=nonsense: expected postgres://user:password@host:port/database',
    '  - RECOGNIZER=foo: expected sherpa-onnx, openai',
  ]);
});

test('npm start -- --help → every variable with its default, exit code 0, and nothing is started', () => {
  const { status, stdout } = spawnSync('npm', ['run', '--silent', 'start', '--', '--help'], {
    // A wrong setting doesn't keep anybody from reading what would be right.
    env: { PATH: process.env.PATH, HOME: process.env.TEST_FOLDER, PORT: 'abc' },
    cwd: projectFolder,
    encoding: 'utf8',
  });
  expect(status).toBe(0);
  const lines = stdout.split('\n').map((line) => line.split(/ {2,}/));
  for (const [variable, { default: value, meaning }] of Object.entries(variables))
    expect(lines).toContainEqual([variable, value, meaning]);
});

test.each([
  ['API_PROCESSES', '1', ' is gone: run several start:api behind scripts/deploy/haproxy.cfg instead'],
  ['VALIDATE_RESPONSES', '1', ' is gone: leave it out; the tests check every answer against the contract'],
  ['SHERPA_ONNX_MODEL', 'diarization', '=diarization: expected a model that recognizes words'],
  ['DATABASE_URL', 'mysql://user:hunter2@host/d', '=mysql://…@host/d: expected postgres://'],
])('%s=%s → a fault that says what to set instead, without a password', (name, value, fault) => {
  const read = () => readConfig({ [name]: value });
  expect(read).toThrow(name + fault);
  expect(read).not.toThrow('hunter2');
  expect(readConfig({ [name]: '' })).toEqual(readConfig({}));
});

test.each([
  ['/models/whisper', { folder: '/models/whisper' }],
  ['whisper-tiny', { name: 'whisper-tiny', folder: '/data/models/whisper-tiny' }],
])('SHERPA_ONNX_MODEL=%s → the folder, and the name of a known model', (model, chosen) => {
  const read = readConfig({ RECOGNIZER: 'sherpa-onnx', DATA_DIR: '/data', SHERPA_ONNX_MODEL: model });
  expect(read.sherpaOnnxModel).toEqual(chosen);
});

const key = 'sk-proj-0123456789';
test.each<[NodeJS.ProcessEnv, object]>([
  [{ OPENAI_API_KEY: key }, { baseUrl: 'https://api.openai.com/v1', apiKey: key, model: 'whisper-1' }],
  [
    { OPENAI_BASE_URL: ' http://gpu:8000/v1/ ', OPENAI_MODEL: 'Systran/faster-whisper-small' },
    { baseUrl: 'http://gpu:8000/v1', apiKey: undefined, model: 'Systran/faster-whisper-small' },
  ],
  [
    { OPENAI_BASE_URL: 'https://me.openai.azure.com/openai/deployments/w/audio/transcriptions?api-version=2024-10-21' },
    { baseUrl: 'https://me.openai.azure.com/openai/deployments/w?api-version=2024-10-21' },
  ],
  [
    { OPENAI_BASE_URL: 'http://gpu', http_proxy: ' http://proxy:3128 ', HTTPS_PROXY: 'http://p:1', NO_PROXY: 'a,b' },
    { baseUrl: 'http://gpu', proxies: { http: 'http://proxy:3128', https: 'http://p:1', none: 'a,b' } },
  ],
])('RECOGNIZER=openai with %j → %j', (env, openai) => {
  expect(readConfig({ RECOGNIZER: 'openai', ...env })).toMatchObject({ recognizer: 'openai', openai });
  // Other programs' variables.
  expect(readConfig(env).openai).toBeUndefined();
});

test.each([
  [{}, 'OPENAI_API_KEY is not set'],
  [{ OPENAI_API_KEY: 'sk-secret twice' }, 'OPENAI_API_KEY=…: expected a key without spaces'],
  [{ OPENAI_BASE_URL: 'sk-proj-secret' }, 'OPENAI_BASE_URL=…: expected an address such as'],
  [
    { OPENAI_BASE_URL: 'http://api.openai.com/v1', OPENAI_API_KEY: 'sk-secret' },
    'OPENAI_BASE_URL=http://api.openai.com/v1: expected an address such as https://',
  ],
  [{ OPENAI_BASE_URL: 'https://me:secret@gpu/v1' }, 'OPENAI_BASE_URL=https://…@gpu/v1: expected an address such as'],
  [{ OPENAI_BASE_URL: 'https://gpu/v1?api-version=1&key=secret' }, 'OPENAI_BASE_URL=https://gpu/v1?…: expected an'],
  [{ OPENAI_BASE_URL: 'http://gpu', https_proxy: 'secret' }, 'HTTPS_PROXY or HTTP_PROXY: expected an address such as'],
])('RECOGNIZER=openai with %j → a fault that shows no secret, beside the other faults', (env, message) => {
  const read = () => readConfig({ RECOGNIZER: 'openai', PORT: 'abc', ...env });
  expect(read).toThrow(message);
  expect(read).toThrow('PORT=abc');
  expect(read).not.toThrow('secret');
});
