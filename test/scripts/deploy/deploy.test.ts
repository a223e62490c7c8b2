/** What operators are given, next to what the service shows. `promtool` tests the alerts themselves, in `.ci/run`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { openDatabase } from '../../../db/connection/database.ts';
import { createLog } from '../../../src/ops/log.ts';
import { Metrics } from '../../../src/ops/metrics.ts';
import { variables } from '../../../src/config/variables.ts';
import { createProgram } from '../../../scripts/admin/program.ts';
import { projectFolder } from '../../architecture/source-files.ts';
import { testTerminal } from '../run-command.ts';

const textOf = (name: string) => readFileSync(join(projectFolder, 'scripts/deploy', name), 'utf8');
const page = textOf('OPERATIONS.md');

interface Rules {
  groups: { rules: { alert: string; expr: string }[] }[];
}
interface Dashboard {
  panels: { title: string; targets: { expr: string }[] }[];
}
const alerts = (parse(textOf('alerts.yml')) as Rules).groups.flatMap(({ rules }) => rules);
const { panels } = JSON.parse(textOf('grafana-dashboard.json')) as Dashboard;
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
  const plain = textOf('VARIABLES.md')
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
    const text = readFileSync(join(projectFolder, path), 'utf8');
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
