import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { jsonText } from '../codegen/operations.ts';
import { matchesTag } from '../src/api/answers/negotiation.ts';
import type { Handler } from '../src/api/handler.ts';

const document = readFileSync(new URL('../codegen/openapi.json', import.meta.url), 'utf8');
const headers = {
  // Weak, since it stands for the compressed body too.
  ETag: `W/"${createHash('sha256').update(document).digest('base64url').slice(0, 22)}"`,
  'Cache-Control': 'public, max-age=300',
  Vary: 'Accept-Encoding',
};

/** GET /openapi.json: the contract in its JSON form. */
export const getOpenApi: Handler<'getOpenApi'> = async ({ headers: { 'if-none-match': known } }) =>
  matchesTag(known, headers.ETag) ? { status: 304, headers } : { status: 200, headers, body: jsonText(document) };
