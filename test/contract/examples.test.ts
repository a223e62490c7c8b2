/** The contract's own examples, sent to the service: whoever copies one must not be refused. */
import { useAccount, useService } from '../support/service/use-service.ts';
import { contract, operations, send } from './requests.ts';
import type { FuzzedRequest, Operation } from './requests.ts';

const service = await useService();
const account = await useAccount(service);

const reading = operations.filter(({ method }) => method === 'GET');

/** @param names of the optional parameters that are sent */
function withExamples({ method, path, parameters }: Operation, names: string[]): FuzzedRequest {
  const request: FuzzedRequest = { method, path, query: [], headers: {} };
  for (const { name, in: place, example } of parameters) {
    if (place === 'path') request.path = request.path.replace(`{${name}}`, String(example));
    else if (!names.includes(name)) continue;
    else if (place === 'header') request.headers[name] = String(example);
    else for (const value of [example].flat()) request.query.push([name, String(value)]);
  }
  return request;
}

async function expectTaken(request: FuzzedRequest): Promise<void> {
  const { status, body } = await send(service.url, request, account.key);
  const isTaken = status === 200 || body.code === 'session_not_found';
  expect({ request, status, body, isTaken }).toMatchObject({ isTaken: true });
}

test.each(reading)(
  '$operationId with the examples of its parameters, alone and together → taken',
  async (operation) => {
    const names = operation.parameters.filter(({ example }) => example !== undefined).map(({ name }) => name);
    await expectTaken(withExamples(operation, []));
    for (const name of names) await expectTaken(withExamples(operation, [name]));
    await expectTaken(withExamples(operation, names));
  },
);

test('listSessions with a `nextCursor` of the examples → taken', async () => {
  // A link's `$response…` is no cursor but says where one is.
  const examples = [
    ...JSON.stringify(contract).matchAll(/"(?:nextCursor|cursor)":(?:\{[^{}]*?"example":)?"([^"$]+)"/g),
  ];
  const cursors = examples.map(([, cursor]) => cursor!);
  expect(cursors.length).toBeGreaterThan(1);
  for (const cursor of cursors) {
    await expectTaken({ method: 'GET', path: '/sessions', query: [['cursor', cursor]], headers: {} });
  }
});
