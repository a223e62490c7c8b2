import { copyFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { unpackFromDebian } from '../debian.ts';
import { driver } from './generator.ts';
import type { Language } from './generator.ts';

/** Guzzle and what it needs. Packagist, where Composer would look, is not a registry that every machine reaches. */
const guzzle = [
  ...['php-guzzlehttp-guzzle=7.4.5-1', 'php-guzzlehttp-promises=1.5.2-1', 'php-guzzlehttp-psr7=2.4.5-1+deb12u1'],
  ...['php-psr-http-client=1.0.1-2', 'php-psr-http-factory=1.0.1-3', 'php-psr-http-message=1.0.1-3'],
  ...['php-symfony-deprecation-contracts=2.5.5-0+deb12u1', 'php-getallheaders=3.0.3-3'],
];

export const php: Language = {
  ...{ name: 'openapi-generator-php', generator: 'php', label: 'PHP' },
  properties: 'invokerPackage=Generated,srcBasePath=lib',
  async build(bench) {
    const { folder, run, fetch } = bench;
    await fetch(['php', '--version']);
    await unpackFromDebian(bench, guzzle);
    await copyFile(driver('openapi-generator.php'), join(folder, 'driver.php'));
    const libraries = await readdir(join(folder, 'made/lib'), { recursive: true });
    const files = libraries.filter((file) => file.endsWith('.php')).map((file) => join('made/lib', file));
    for (const file of [...files, 'driver.php']) await run(['php', ...strict, '-l', file]);
    return ['php', ...strict, '-d', `include_path=${join(folder, 'debian/usr/share/php')}`, 'driver.php'];
  },
};

const strict = ['-d', 'error_reporting=-1', '-d', 'display_errors=stderr'];
