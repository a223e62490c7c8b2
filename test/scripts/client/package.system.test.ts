/** The package as people install it: packed, unpacked beside its one dependency, compiled against and run. */
import { execFile } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { makeAccount } from '../../support/service/accounts.ts';
import { useFolder } from '../../support/use-folder.ts';
import { useService } from '../../support/service/use-service.ts';

const service = await useService();
const folder = useFolder();
const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../../..');

const program = `
import { TranscriptionClient } from 'transcription-client';
import type { Session } from 'transcription-client';

const client = new TranscriptionClient({ url: process.env['API']!, apiKey: process.env['KEY']! });
const titles: string[] = [];
for await (const { items } of client.pages({ status: ['completed', 'failed'] })) {
  titles.push(...items.map(({ title }: Session) => title));
}
// @ts-expect-error the contract knows no such status
client.pages({ status: ['done'] });
console.log(JSON.stringify(titles));
`;

test('npm pack → a package that compiles and runs elsewhere', async () => {
  await run('npm', ['pack', '--pack-destination', folder, '--silent'], { cwd: join(root, 'scripts/client') });
  const modules = join(folder, 'node_modules');
  await mkdir(join(modules, 'transcription-client'), { recursive: true });
  const archive = join(folder, 'transcription-client-1.0.0.tgz');
  await run('tar', ['-xzf', archive, '--strip-components=1', '-C', join(modules, 'transcription-client')]);
  for (const name of ['openapi-fetch', 'openapi-typescript-helpers', '@types', 'undici-types'])
    await symlink(join(root, 'node_modules', name), join(modules, name));

  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await writeFile(join(folder, 'program.ts'), program);
  const options = ['--strict', '--module', 'nodenext', '--target', 'es2023', '--types', 'node'];
  await run(join(root, 'node_modules/typescript-7/bin/tsc'), [...options, 'program.ts'], { cwd: folder });
  const env = { ...process.env, API: `${service.url}/v1`, KEY: (await makeAccount(service.db)).key };
  const { stdout } = await run(process.execPath, ['program.js'], { cwd: folder, env });
  expect(stdout).toBe('[]\n');
});
