import { copyFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { unpackFromDebian } from '../debian.ts';
import { driver } from './generator.ts';
import type { Language } from './generator.ts';

/** Typhoeus and what it needs. RubyGems is not a registry that every machine reaches. */
const typhoeus = [
  ...['ruby-typhoeus=1.4.0-3', 'ruby-ethon=0.16.0-1', 'ruby-ffi=1.15.5+dfsg-1+b1'],
  ...['ruby-mime-types=3.4.1-2', 'ruby-mime-types-data=3.2022.0105-1'],
];

/** Of a gem, or of what is compiled of one. */
const isLibrary = (path: string) => /\/gems\/[^/]+\/lib$|\/extensions\/[^/]+\/[^/]+\/[^/]+$/.test(path);

export const ruby: Language = {
  ...{ name: 'openapi-generator-ruby', generator: 'ruby', label: 'Ruby' },
  properties: 'gemName=generated,moduleName=Generated',
  async build(bench) {
    const { folder, run, fetch } = bench;
    await fetch(['ruby', '--version']);
    await unpackFromDebian(bench, typhoeus);
    await copyFile(driver('openapi-generator.rb'), join(folder, 'driver.rb'));
    await run(['ruby', '-wc', 'driver.rb']);
    const unpacked = await readdir(join(folder, 'debian'), { recursive: true });
    const gems = unpacked.filter(isLibrary).map((path) => join('debian', path));
    return ['ruby', ...['made/lib', ...gems].flatMap((path) => ['-I', path]), 'driver.rb'];
  },
};
