import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bench } from './judge.ts';

/** Unpacks Debian's packages (`name=version`) into the folder `debian` of the judge; nothing is installed. */
export async function unpackFromDebian({ folder, fetch }: Bench, packages: readonly string[]): Promise<void> {
  const wanted = packages.join('\n');
  const unpacked = join(folder, 'debian/.unpacked');
  if ((await readFile(unpacked, 'utf8').catch(() => '')) === wanted) return;
  await rm(join(folder, 'debian'), { recursive: true, force: true });
  // As root, apt-get would hand the download to a user who may not write here.
  await fetch(['apt-get', 'download', '--quiet', '-o', 'APT::Sandbox::User=root', ...packages]);
  for (const file of (await readdir(folder)).filter((name) => name.endsWith('.deb'))) {
    await fetch(['dpkg-deb', '--extract', file, 'debian']);
    await rm(join(folder, file));
  }
  await writeFile(unpacked, wanted);
}
