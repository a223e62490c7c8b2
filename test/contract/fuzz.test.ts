import fc from 'fast-check';
import { makeAccount } from '../support/service/accounts.ts';
import { useService } from '../support/service/use-service.ts';
import { cases, invalidRequest, operations, seed, send, validRequest } from './requests.ts';
import type { Values } from './arbitraries.ts';
import type { Operation } from './requests.ts';

let key: string;

const service = await useService({ env: { LOG_LEVEL: 'silent' } });
beforeAll(async () => {
  ({ key } = await makeAccount(service.db, { limits: { requests_per_minute: 100_000_000 } }));
});

const runs = { numRuns: cases, seed, endOnFailure: false };
const reading = operations.filter((operation) => operation.method === 'GET');
/** Waiting is for its own tests. */
const known = { wait: fc.constant<Values>(['0']) };

/** What a valid request may be answered: the position of a random cursor is never one that we issued. */
function isExpected(operation: Operation, status: number, code: string | undefined): boolean {
  if (status === 200 || status === 304) return true;
  if (operation.operationId === 'listSessions') return code === 'invalid_cursor';
  return operation.path.includes('{id}') && code === 'session_not_found';
}

test.each(reading)(`$operationId: ${cases} valid requests → accepted (seed ${seed})`, async (operation) => {
  const property = fc.asyncProperty(validRequest(operation, known), async (request) => {
    const { status, body } = await send(service.url, request, key);
    expect({ request, status, code: body.code, ok: isExpected(operation, status, body.code) }).toMatchObject({
      ok: true,
    });
  });
  await fc.assert(property, runs);
});

test.each(reading)(
  `$operationId: ${cases} invalid requests → 400 that names the culprit (seed ${seed})`,
  async (operation) => {
    const property = fc.asyncProperty(invalidRequest(operation), async ({ request, culprit }) => {
      const { status, body } = await send(service.url, request, key);
      expect({ request, status, code: body.code }).toMatchObject({ status: 400, code: 'invalid_request' });
      expect(body.errors?.map(({ name }) => name)).toContain(culprit);
    });
    await fc.assert(property, runs);
  },
);
