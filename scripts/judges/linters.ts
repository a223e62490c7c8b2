import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { installFromNpm } from './npm.ts';
import { expect } from './judge.ts';
import type { Judge } from './judge.ts';

const root = resolve(import.meta.dirname, '../..');
const spectralVersion = '6.16.3';

export const redocly: Judge = {
  name: 'redocly',
  tool: 'Redocly',
  isQuick: true,
  async judge({ run }) {
    const command = join(root, 'node_modules/.bin/redocly');
    // It looks for newer versions and counts its users otherwise.
    const env = { REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', REDOCLY_TELEMETRY: 'off' };
    const version = (await run([command, '--version'], { env })).trim();
    const lint = [command, 'lint', join(root, 'openapi.yaml'), '--extends=recommended-strict', '--format=json'];
    const { totals } = JSON.parse(await run(lint, { env })) as { totals: { errors: number; warnings: number } };
    expect(totals.errors + totals.warnings === 0, `${totals.errors} errors and ${totals.warnings} warnings`);
    return { version, did: 'linted openapi.yaml by its recommended rules, warnings as errors, none switched off' };
  },
};

export const spectral: Judge = {
  name: 'spectral',
  tool: 'Spectral',
  isQuick: true,
  async judge(bench) {
    await installFromNpm(bench, { '@stoplight/spectral-cli': spectralVersion });
    await writeFile(join(bench.folder, 'ruleset.yaml'), "extends: ['spectral:oas']\n");
    const command = join(bench.folder, 'node_modules/.bin/spectral');
    const rules = ['--ruleset', 'ruleset.yaml', '--fail-severity', 'hint'];
    await bench.run([command, 'lint', join(root, 'openapi.yaml'), ...rules]);
    return {
      version: spectralVersion,
      did: 'linted openapi.yaml by its recommended rules, hints as errors, none switched off',
    };
  },
};
