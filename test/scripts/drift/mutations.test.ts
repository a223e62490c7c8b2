/** The table of drifts in CONTRIBUTING.md. That each of them is caught, `npm run check:drift` shows. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectFolder } from '../../architecture/source-files.ts';
import { mutations } from '../../../scripts/drift/mutations.ts';

test('CONTRIBUTING.md → the same drifts, in the same order', async () => {
  const text = await readFile(join(projectFolder, 'CONTRIBUTING.md'), 'utf8');
  const [, table] = text.split('## How the contract stays true');
  const told = [...table!.matchAll(/^\| (\S.*?\.) +\|/gm)].map(([, sentence]) => sentence);
  expect(told).toEqual(mutations.map(({ drift }) => drift));
});
