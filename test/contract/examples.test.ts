/** The contract's own examples, sent to the service: one that is copied must not be refused. */
import { contract as wholeContract } from '../../src/api/contract/document.ts';
import { useAccount, useService } from '../support/service/use-service.ts';
import { tone } from '../support/uploads/uploads.ts';
import { bodySchema, contract, operations, send } from './requests.ts';
import type { FuzzedRequest, Operation } from './requests.ts';

const service = await useService();
const account = await useAccount(service);

const reading = operations.filter(({ method }) => method === 'GET');

/** @param names of the optional parameters that are sent @param id in place of the example's */
function withExamples({ method, path, parameters }: Operation, names: string[], id?: string): FuzzedRequest {
  const request: FuzzedRequest = { method, path, query: [], headers: {} };
  for (const { name, in: place, example } of parameters) {
    if (place === 'path') request.path = request.path.replace(`{${name}}`, id ?? String(example));
    else if (!names.includes(name)) continue;
    else if (place === 'header') request.headers[name] = String(example);
    else for (const value of [example].flat()) request.query.push([name, String(value)]);
  }
  return request;
}

const exampleNames = ({ parameters }: Operation) =>
  parameters.filter(({ example, in: place }) => example !== undefined && place !== 'path').map(({ name }) => name);

async function expectTaken(request: FuzzedRequest): Promise<void> {
  const { status, body } = await send(service.url, request, account.key);
  const isTaken = status === 200 || body.code === 'session_not_found';
  expect({ request, status, body, isTaken }).toMatchObject({ isTaken: true });
}

test.each(reading)(
  '$operationId with the examples of its parameters, alone and together → taken',
  async (operation) => {
    const names = exampleNames(operation);
    await expectTaken(withExamples(operation, []));
    for (const name of names) await expectTaken(withExamples(operation, [name]));
    await expectTaken(withExamples(operation, names));
  },
);

test('createTranscription with the examples of its header and fields, twice, with two files → taken each time', async () => {
  const upload = operations.find(({ operationId }) => operationId === 'createTranscription')!;
  const headers = upload.parameters.filter(({ example }) => example !== undefined).map(({ name }) => name);
  const fields = Object.entries(bodySchema('createTranscription')) as [string, { example?: unknown }][];
  for (const pitch of [4, 5]) {
    const form = new FormData();
    form.append('file', new Blob([await tone(100, pitch)]), 'tone.wav');
    for (const [name, { example }] of fields) if (example !== undefined) form.append(name, [example].flat().join());
    const { status, body } = await send(service.url, withExamples(upload, headers), account.key, form);
    expect({ status, body }).toMatchObject({ status: 202 });
  }
});

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

test('every field of an answer → in an example', () => {
  const { TranscriptionRequest: _, ...schemas } = wholeContract.components!.schemas!;
  const fields = Object.values(schemas as Record<string, { properties?: object }>).flatMap(({ properties = {} }) =>
    Object.keys(properties),
  );
  const examples: unknown[] = [];
  JSON.stringify(wholeContract, (name, value: unknown) => {
    if (name === 'examples') examples.push(value);
    return value;
  });
  const shown = JSON.stringify(examples);
  expect(fields.filter((field) => !shown.includes(`"${field}":`))).toEqual([]);
});
