// Jest's whole TypeScript support: Node's own type stripping, so that tests run exactly what the service runs.
import { stripTypeScriptTypes } from 'node:module';

export default {
  process: (source) => ({ code: stripTypeScriptTypes(source, { mode: 'strip' }) }),
};
