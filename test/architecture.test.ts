/** The rules that keep the house simple, checked. Each failure names the file and what it does against the rule. */
import { cyclesIn } from './architecture/circles.ts';
import { roomOf, rooms } from './architecture/rooms.ts';
import { allFiles, parse, projectFolder, textOf } from './architecture/source-files.ts';

const everything = allFiles();
const isCode = /^(src|handlers|db|codegen|scripts)\/.*\.ts$/;
const isGenerated = /^(codegen\/(api\.ts|openapi\.json)|package-lock\.json)$/;
const files = new Map(everything.filter((path) => isCode.test(path)).map((path) => [path, parse(path)]));
const code = [...files.values()];
const imports = code.flatMap((file) => file.imports.map((used) => ({ ...used, path: file.path })));

const hasMain = /^(src\/(.*\/)?(start(-[^/]*)?|child-main)|scripts\/(.*\/)?main|codegen\/generate)\.ts$/;

/** The files that may import a package, and those that may import its types only. */
const doors: { name: string; files: RegExp; typesIn?: RegExp }[] = [
  { name: 'express', files: /^src\/app\.ts$/, typesIn: /^src\/api\// },
  { name: 'multer', files: /^src\/api\/uploads\// },
  { name: 'openapi-backend', files: /^src\/(app\.ts|api\/contract\/.*)$/, typesIn: /^src\/api\// },
  { name: 'pg-boss', files: /^(src\/queue\/|scripts\/bench\/fleet-workers\.ts$)/ },
  {
    name: 'pg',
    files: /^(db\/(connection\/(database(-errors)?|values)|embedded\/server)\.ts|scripts\/bench\/baselines\/.*)$/,
  },
  { name: 'kysely', files: /^db\// },
  { name: 'pg-copy-streams', files: /^db\/moving\// },
  {
    name: 'sherpa-onnx-node',
    files: /^src\/recognizers\/sherpa-onnx\/child-main\.ts$/,
    typesIn: /^src\/recognizers\/sherpa-onnx\//,
  },
  {
    name: 'undici',
    files: /^(src\/recognizers\/proxies|src\/recognizers\/openai\/exchange|scripts\/model\/[^/]+)\.ts$/,
  },
  { name: 'tar', files: /^scripts\/model\// },
  { name: '@zip.js/zip.js', files: /^scripts\/admin\/sessions\.ts$/ },
  ...['api', 'core', 'exporter-trace-otlp-http', 'resources', 'sdk-trace'].map((name) => ({
    name: `@opentelemetry/${name}`,
    files: /^src\/tracing\/tracing\.ts$/,
  })),
  { name: '@aws-sdk/client-s3', files: /^src\/files\/s3\// },
  { name: '@aws-sdk/lib-storage', files: /^src\/files\/s3\// },
  { name: 'node:child_process', files: /^(src\/children|db\/embedded|scripts)\// },
];

test.each(doors)('$name comes in through its door only', ({ name, files: door, typesIn }) => {
  const users = imports.filter(({ target, path }) => target === name && !door.test(path));
  expect(pathsOf(users.filter(({ typeOnly, path }) => !(typeOnly && typesIn?.test(path))))).toEqual([]);
});

test.each(rooms)('$sentence ($name)', (room) => {
  const outwards = imports.filter(({ path, target }) => roomOf(path) === room && isCode.test(target));
  const wrong = outwards.filter(({ target }) => ![room.name, ...room.restsOn].includes(roomOf(target)?.name ?? ''));
  expect(wrong.map(({ path, target }) => `${path} imports ${target}`)).toEqual([]);
});

test('nobody locks an account out of turn', () => {
  const mayLock = /^db\/accounts\/(accounts|account-transaction)\.ts$/;
  expect(pathsOf(code.filter(({ path }) => !mayLock.test(path) && /\blockAccount\b/.test(textOf(path))))).toEqual([]);
});

test('only db/queue-tables.ts knows the tables of the queue', () => {
  const others = code.filter(({ path }) => path !== 'db/queue-tables.ts' && !path.startsWith('scripts/bench/'));
  expect(pathsOf(others.filter(({ path }) => textOf(path).includes('pgboss.')))).toEqual([]);
});

test('no import goes in a circle, also of types only', () => {
  expect(cyclesIn(files).map((cycle) => cycle.join(' → '))).toEqual([]);
});

test('no arrow between the folders of src/ or db/ points up', () => {
  const folderOf = (path: string) => path.split('/').slice(0, 2).join('/');
  const arrows = imports.filter(({ path, target }) => folderOf(path) !== folderOf(target));
  const ofFolders = Map.groupBy(arrows, ({ path }) => folderOf(path));
  const folders = new Map(
    [...ofFolders].map(([folder, used]) => [
      folder,
      { imports: used.map(({ target }) => ({ target: folderOf(target) })) },
    ]),
  );
  expect(cyclesIn(folders).map((cycle) => cycle.join(' → '))).toEqual([]);
});

test('nobody imports a file that has a main', () => {
  const misused = imports.filter(({ target }) => hasMain.test(target));
  expect(misused.map(({ path, target }) => `${path} imports ${target}`)).toEqual([]);
});

test('commands take the world outside from their terminal', () => {
  const isCommand = /^scripts\/(admin|model|transcribe|terminal(?!\/(run-command|interruption)\.ts))\//;
  const world = /\bprocess\.(argv|env|std(in|out|err)|exit(Code)?|on|once|off)\b/;
  expect(pathsOf(code.filter(({ path }) => isCommand.test(path) && world.test(textOf(path))))).toEqual([]);
});

test('every file of src/ belongs to a room', () => {
  expect(pathsOf(code.filter(({ path }) => path.startsWith('src/') && roomOf(path) === undefined))).toEqual([]);
});

test('every imported file exists', () => {
  const missing = imports.filter(({ target }) => isCode.test(target) && !files.has(target));
  expect(missing.map(({ path, target }) => `${path} imports ${target}`)).toEqual([]);
});

const tests = everything.filter((path) => /^test\/.*\.ts$/.test(path)).map((path) => parse(path));

test('no any, enum, parameter property or default export', () => {
  // What jest loads by name has to be a default export.
  const loadedByJest = /^test\/support\/(global-|run\/sequencer)/;
  const watched = [...code, ...tests].filter(({ path }) => !isGenerated.test(path) && !loadedByJest.test(path));
  expect(watched.flatMap(({ path, unwanted }) => unwanted.map((what) => `${path} has ${what}`))).toEqual([]);
});

test('no file is named after nothing in particular', () => {
  const vague = /(^|[/.-])(utils?|helpers?|common|managers?|misc|shared)([/.-]|$)/;
  expect(everything.filter((path) => vague.test(path))).toEqual([]);
});

const isText = /\.(ts|mjs|json|ya?ml|md)$|(^|\/)\.?[^./]+$/;
const texts = everything.filter((path) => isText.test(path)).map((path) => ({ path, text: textOf(path) }));

// The words are put together, so that this file doesn't hold them itself.
const leftForLater = new RegExp(`\\b(${'TO'}DO|${'FIX'}ME)\\b`);
const folderOfThisMachine = new RegExp(`(?<![\\w.])/${'work'}/`);
const registryHost = new RegExp(`\\b${'registry'}\\.[a-z0-9-]+\\.[a-z]{2,}|"${'resolved'}":`);

test.each<[string, (text: string) => boolean]>([
  ['no work is left for later', (text) => leftForLater.test(text)],
  ['no path of this machine', (text) => folderOfThisMachine.test(text) || text.includes(`${projectFolder}/`)],
  ['no host of a package registry', (text) => registryHost.test(text)],
])('%s', (_, breaks) => {
  expect(pathsOf(texts.filter(({ text }) => breaks(text)))).toEqual([]);
});

const pathsOf = (found: { path: string }[]) => found.map(({ path }) => path);
