import { fileURLToPath } from 'node:url';
import { freePort } from '../../local-service/addresses.ts';
import { openapiFetch } from './openapi-fetch.ts';
import type { TypeScriptClient } from './client.ts';

const version = '5.16.0';
const throughPrism = fileURLToPath(new URL('../drivers/through-prism.ts', import.meta.url));

/** A proxy that validates the requests and answers of another client's main job, except for its uploads. */
export const prism: TypeScriptClient = {
  ...openapiFetch,
  ...{ name: 'prism', tool: "Prism's proxy", isQuick: false, version },
  packages: { ...openapiFetch.packages, '@stoplight/prism-cli': version },
  adapter: openapiFetch.name,
  async command({ contract }, mainJob) {
    return ['node', throughPrism, contract, String(await freePort('127.0.0.1', 0, 'PORT')), ...mainJob];
  },
};
