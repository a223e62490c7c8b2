/**
 * What operators are given, and what containers start, copy and set, next to what there is and the service shows. `promtool`
 * tests the alerts themselves, in `.ci/run`.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { openDatabase } from '../../../db/connection/database.ts';
import { createLog } from '../../../src/ops/log.ts';
import { Metrics } from '../../../src/ops/metrics.ts';
import { variables } from '../../../src/config/variables.ts';
import { createProgram } from '../../../scripts/admin/program.ts';
import { projectFolder } from '../../architecture/source-files.ts';
import { testTerminal } from '../run-command.ts';

const textOf = (path: string) => readFileSync(join(projectFolder, path), 'utf8');
const page = textOf('scripts/deploy/OPERATIONS.md');

interface Rules {
  groups: { rules: { alert: string; expr: string }[] }[];
}
interface Dashboard {
  panels: { title: string; targets: { expr: string }[] }[];
}
const alerts = (parse(textOf('scripts/deploy/alerts.yml')) as Rules).groups.flatMap(({ rules }) => rules);
const { panels } = JSON.parse(textOf('scripts/deploy/grafana-dashboard.json')) as Dashboard;
const queries: [string, string][] = [
  ...alerts.map(({ alert, expr }): [string, string] => [alert, expr]),
  ...panels.flatMap(({ title, targets }) => targets.map(({ expr }): [string, string] => [title, expr])),
];

test('every query asks for metrics that the service has', async () => {
  const { db, close } = openDatabase(process.env.TEST_DATABASE_URL!, () => {}, { maxConnections: 1 });
  const shown = await new Metrics(db, createLog({ logLevel: 'silent' })).registry.getMetricsAsJSON();
  await close();
  const names = new Set([
    'up',
    ...shown.flatMap(({ name }) => ['', '_count', '_sum', '_bucket'].map((end) => name + end)),
  ]);
  const asked = queries.map(
    ([where, query]) => [where, query.match(/\b(transcription_|nodejs_|process_|up\b)\w*/g) ?? []] as const,
  );
  expect(asked.filter(([, metrics]) => metrics.length === 0)).toEqual([]);
  const unknown = asked.flatMap(([where, metrics]) =>
    metrics.filter((name) => !names.has(name)).map((name) => [where, name]),
  );
  expect(unknown).toEqual([]);
});

test('every alert has its section, and every section its alert', () => {
  const sections = [...page.matchAll(/^### (Transcription\w+)$/gm)].map(([, name]) => name);
  expect(sections).toEqual(alerts.map(({ alert }) => alert));
});

test('the page lists every variable as --help does', () => {
  const plain = textOf('scripts/deploy/VARIABLES.md')
    .replace(/`/g, '')
    .replace(/\[(.+?)\]\(.+?\)/g, '$1');
  const listed = [...plain.matchAll(/^\| ([A-Z].*?) +\| (.+?) +\| (.+?) +\|$/gm)].map(([, ...cells]) => cells);
  expect(listed).toEqual(
    Object.entries(variables).map(([name, { default: value, meaning }]) => [name, value, meaning]),
  );
});

test.each(['README.md', 'scripts/admin/README.md', 'scripts/deploy/OPERATIONS.md'])(
  'every support command in %s exists, with its options',
  (path) => {
    const program = createProgram(testTerminal(), () => {});
    // What stands after another "--" is for the program that the command runs.
    const text = textOf(path);
    const typed = [...text.matchAll(/npm run admin -- ([^\n`#]+)/g)].map(([, words]) =>
      words!.split(' -- ')[0]!.trim().split(/\s+/),
    );
    expect(typed.length).toBeGreaterThan(3);
    for (const words of typed) {
      const group = program.commands.find((command) => command.name() === words[0]);
      const command = group?.commands.length === 0 ? group : group?.commands.find((one) => one.name() === words[1]);
      const known = command?.options.map(({ long }) => long);
      const options = words.filter((word) => word.startsWith('--'));
      expect({ words, known }).toEqual({ words, known: expect.arrayContaining(options) });
    }
  },
);

const filesIn = (folder: string) => readdirSync(join(projectFolder, folder)).map((name) => `${folder}/${name}`);
const manifests = filesIn('scripts/deploy/kubernetes');
const changes = filesIn('scripts/deploy/kubernetes-object-store');

test.each(['Dockerfile', 'compose.yaml', ...manifests, ...changes])('%s names only files that exist', (path) => {
  const named = textOf(path).match(/\b(src|scripts)\/[\w./-]+\.(ts|mjs|yaml)\b/g) ?? [];
  expect(named.filter((name) => !existsSync(join(projectFolder, name)))).toEqual([]);
});

test('the image gets what it copies', () => {
  const copied = [...textOf('Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names]) =>
    names!.split(' '),
  );
  const given = textOf('.dockerignore')
    .split('\n')
    .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []));
  expect(copied.length).toBeGreaterThan(5);
  expect(copied.filter((name) => !given.some((one) => one === name || one.startsWith(`${name}/`)))).toEqual([]);
});

test('every variable that is set is one that the service reads', () => {
  const compose = parse(textOf('compose.yaml'), { merge: true }) as {
    services: { api: { environment: Record<string, string> } };
  };
  const settings = ['kubernetes', 'kubernetes-object-store'].map(
    (folder) => parse(textOf(`scripts/deploy/${folder}/settings.yaml`)) as { data: Record<string, string> },
  );
  const names = [compose.services.api.environment, ...settings.map(({ data }) => data)].flatMap(Object.keys);
  // AWS's own packages look for these.
  const keys = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'];
  expect(names.length).toBeGreaterThan(5);
  expect(names.filter((name) => !keys.includes(name) && !(name in variables))).toEqual([]);
});

test('kustomize applies every manifest but the options, which the page tells of', () => {
  const { resources } = parse(textOf('scripts/deploy/kubernetes/kustomization.yaml')) as { resources: string[] };
  const there = manifests.map((path) => path.split('/').at(-1)!).filter((name) => name !== 'kustomization.yaml');
  expect(resources.filter((name) => !there.includes(name))).toEqual([]);
  const options = there.filter((name) => !resources.includes(name));
  expect(options.toSorted()).toEqual(['console.yaml', 'ingress.yaml', 'pod-monitor.yaml']);
  const page = textOf('scripts/deploy/README.md');
  expect(options.filter((name) => !page.includes(`kubernetes/${name}`))).toEqual([]);
});

test('every image is of this version', () => {
  const { version } = JSON.parse(textOf('package.json')) as { version: string };
  const tags = ['compose.yaml', 'scripts/deploy/README.md', ...manifests].flatMap((path) =>
    [...textOf(path).matchAll(/(?:transcription:|newTag: )(\d\S*|latest)/g)].map(([, tag]) => tag),
  );
  expect(tags.length).toBeGreaterThan(3);
  expect(tags.filter((tag) => tag !== version)).toEqual([]);
});
