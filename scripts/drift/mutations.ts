/** The ways in which server and contract can drift apart, each as one small change that a judge has to catch. */
import type { JudgeName } from './judge-titles.ts';

/** The parsed contract. A mutation changes it in place. */
export type Contract = { [name: string]: Contract } & { required: string[]; enum: string[] };

interface Drift {
  /** What drifts, in one sentence. CONTRIBUTING.md has the same sentence. */
  drift: string;
  judge: JudgeName;
  /** The test file that catches it, when a test does. */
  test?: string;
}

interface ContractMutation extends Drift {
  contract: (contract: Contract) => unknown;
}

interface CodeMutation extends Drift {
  file: string;
  from: string;
  to: string;
}

export type Mutation = ContractMutation | CodeMutation;

const schemas = (contract: Contract) => contract['components']!['schemas']!;
const operation = (contract: Contract, path: string, method = 'get') => contract['paths']![path]![method]!;

/** Grouped by judge. */
export const mutations: Mutation[] = [
  {
    drift: 'An answer has a field that the contract does not declare.',
    judge: 'compiler',
    file: 'src/sessions/view.ts',
    from: 'session.durationMs = duration_ms',
    to: 'session.lengthMs = duration_ms',
  },
  {
    drift: 'The contract requires a field that the answer leaves out.',
    judge: 'compiler',
    contract: (contract) => {
      schemas(contract)['Session']!['properties']!['owner'] = { type: 'string' } as unknown as Contract;
      schemas(contract)['Session']!.required.push('owner');
    },
  },
  {
    drift: 'A field has another type than the contract says.',
    judge: 'compiler',
    contract: (contract) => Object.assign(schemas(contract)['Session']!['properties']!['title']!, { type: 'boolean' }),
  },
  {
    drift: 'An enum of the contract lacks a value that the server writes.',
    judge: 'compiler',
    contract: (contract) => schemas(contract)['SessionStatus']!.enum.pop(),
  },
  {
    drift: 'A handler answers a status that the contract does not declare.',
    judge: 'compiler',
    file: 'handlers/getSession.ts',
    from: 'status: 200',
    to: 'status: 203',
  },
  {
    drift: 'A handler sets a header that the contract does not declare.',
    judge: 'test',
    test: 'test/handlers/getSession.test.ts',
    file: 'handlers/getSession.ts',
    from: 'isFinal(row.status) ? {}',
    to: "isFinal(row.status) ? { ETag: 'x' }",
  },
  {
    drift: 'A handler leaves out a header that the contract requires.',
    judge: 'compiler',
    file: 'handlers/createTranscription.ts',
    from: 'Location: `${publicPath}/v1/sessions/${accepted.sessionId}`,',
    to: '',
  },
  {
    drift: 'A handler answers a media type that the contract does not offer.',
    judge: 'compiler',
    contract: (contract) =>
      delete operation(contract, '/sessions/{id}/transcript')['responses']!['200']!['content']!['text/vtt'],
  },
  {
    drift: 'The contract has an operation without a handler.',
    judge: 'compiler',
    contract: (contract) => {
      const copy = structuredClone(operation(contract, '/sessions/{id}'));
      contract['paths']!['/speakers/{id}'] = {
        get: { ...copy, operationId: 'getSpeaker' },
      } as unknown as Contract;
    },
  },
  {
    drift: 'A generated client no longer compiles.',
    judge: 'client',
    contract: (contract) =>
      Object.assign(schemas(contract)['TranscriptionJob']!['properties']!, { sessionId: { type: 'integer' } }),
  },
  {
    drift: 'The contract was edited, and what follows from it was not generated.',
    judge: 'generator',
    contract: (contract) => Object.assign(contract['info']!, { version: '1.0.1' }),
  },
  {
    drift: 'An example contradicts its schema.',
    judge: 'linter',
    contract: (contract) =>
      Object.assign(schemas(contract)['Session']!['properties']!['progress']!, { example: 'half' }),
  },
  {
    drift: 'A change breaks clients of the last release.',
    judge: 'release',
    contract: (contract) => delete schemas(contract)['Session']!['properties']!['language'],
  },
  {
    drift: 'An answer that is put together as text breaks its schema.',
    judge: 'test',
    test: 'test/handlers/getTranscript.test.ts',
    file: 'src/api/reads/transcripts.ts',
    from: '"segments":',
    to: '"lines":',
  },
  {
    drift: 'A header that every answer carries is missing.',
    judge: 'test',
    test: 'test/handlers/getSession.test.ts',
    file: 'src/app.ts',
    from: "res.setHeader('X-Request-Id', res.locals.requestId);",
    to: '',
  },
  {
    drift: 'An operation asks for another scope than it should.',
    judge: 'test',
    test: 'test/src/api/access/auth.test.ts',
    contract: (contract) => Object.assign(operation(contract, '/sessions'), { 'x-required-scope': 'write' }),
  },
  {
    drift: 'A limit of the contract is not the one that is promised.',
    judge: 'test',
    test: 'test/handlers/listSessions.test.ts',
    contract: (contract) =>
      Object.assign(contract['components']!['parameters']!['Limit']!['schema']!, { maximum: 1000 }),
  },
  {
    drift: 'A request that the contract refuses is accepted.',
    judge: 'test',
    test: 'test/handlers/listSessions.test.ts',
    file: 'src/api/contract/backend.ts',
    from: 'ignoreTrailingSlashes: false,',
    to: 'ignoreTrailingSlashes: false, validate: false,',
  },
  {
    drift: 'The document that is served is not the one in the repository.',
    judge: 'test',
    test: 'test/handlers/getOpenApi.test.ts',
    file: 'handlers/getOpenApi.ts',
    from: "'utf8')",
    to: "'utf8').replace('Transcription', 'Speech')",
  },
];
