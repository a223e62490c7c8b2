/** What `--help` prints: how the service is started, and every variable that it reads. */
import { variables } from './variables.ts';

const rows = [
  ['Variable', 'Default', 'Meaning'],
  ...Object.entries(variables).map(([name, variable]) => [name, variable.default, variable.meaning]),
] as [string, string, string][];
const widthOf = (column: 0 | 1) => Math.max(...rows.map((row) => row[column].length));
const [nameWidth, defaultWidth] = [widthOf(0), widthOf(1)];

export const help = `Usage: npm start              the API and a worker in one process
       npm run start:api      the API alone
       npm run start:worker   a worker alone

Each takes its settings from the environment: PORT=8081 npm start

${rows.map(([name, value, meaning]) => `${name.padEnd(nameWidth)}  ${value.padEnd(defaultWidth)}  ${meaning}\n`).join('')}`;
