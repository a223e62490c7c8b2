/** `/llms.txt` (llmstxt.org): everything that the contract says, as text, for programs that read text. */
import { contract, resolve } from '../contract/document.ts';
import { answerOf, parameterOf, schemaText } from './llms-parts.ts';
import type { Answer, Parameter, Schema } from './llms-parts.ts';

interface Operation {
  operationId: string;
  summary: string;
  description: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, Answer>;
  'x-required-scope'?: string;
  'x-codeSamples'?: { lang: string; label: string; source: string }[];
}

interface Contract {
  info: { title: string; version: string; description: string };
  servers: [{ url: string }];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    headers: Record<string, { description: string }>;
    responses: Record<string, Answer>;
    schemas: Record<string, Schema>;
    securitySchemes: { ApiKey: { description: string } };
  };
}

/** @param publicPath what stands before every path of the service */
export function llmsText(publicPath: string): string {
  const { info, servers, tags, paths, components } = contract as unknown as Contract;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, name: `${method.toUpperCase()} ${path}` })),
  );
  const [summary, ...about] = info.description.trim().split('\n\n');
  const samples = operations.flatMap((operation) => operation['x-codeSamples'] ?? []);
  const errors = Object.values(components.responses).map((answer) => [statusOf(answer), answer] as const);
  return (
    [
      `# ${info.title}`,
      `> ${summary}`,
      ...about,
      `All paths are below \`${publicPath}${servers[0].url}\` of this host. ${components.securitySchemes.ApiKey.description.trim()}`,
      '## Contract',
      `- [OpenAPI document](${publicPath}/openapi.json): the source of truth, from which this text is made\n- [The same for people](${publicPath}/docs)`,
      tags.find(({ name }) => name === 'Contract')!.description.trim(),
      '## Operations',
      ...operations.flatMap(operationText),
      '## Errors',
      errors.map(([status, answer]) => answerOf(status, answer)).join('\n'),
      '## Headers of answers',
      headersOf(operations),
      '## Schemas',
      ...Object.entries(components.schemas).map(([name, schema]) => schemaText(name, schema)),
      '## Upload, wait, read',
      ...samples.map(({ lang, label, source }) => `${label}:\n\n\`\`\`${lang.toLowerCase()}\n${source.trim()}\n\`\`\``),
    ].join('\n\n') + '\n'
  );
}

function operationText({ name, ...operation }: Operation & { name: string }): string[] {
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation;
  const scope = operation['x-required-scope'];
  const answers = Object.entries(responses);
  const isError = ([, answer]: [string, Answer]) => answer.$ref !== undefined;
  const refusals = answers.filter(isError).map(([status]) => status);
  return [
    `### ${name}`,
    `${summary} (\`${operationId}\`).${scope === undefined ? ' No key is needed.' : ` Scope: \`${scope}\`.`}`,
    description.trim(),
    ...(parameters.length > 0 ? ['Parameters:', parameters.map(parameterOf).join('\n')] : []),
    ...Object.entries(requestBody?.content ?? {}).map(
      ([type, { schema }]) => `Body: \`${type}\`, a \`${schema.$ref!.split('/').at(-1)}\` (see Schemas).`,
    ),
    'Answers:',
    answers
      .filter((answer) => !isError(answer))
      .map(([status, answer]) => answerOf(status, answer))
      .join('\n'),
    `Errors: ${refusals.join(', ')} (see Errors).`,
  ];
}

/** An answer that several operations have says its status in the example of its problem. */
function statusOf({ content = {} }: Answer): string {
  const [example] = Object.values(content['application/problem+json']?.examples ?? {});
  return String(example!.value['status']);
}

/** Each header by the name that it has in answers, and of which answers it is. */
function headersOf(operations: Operation[]): string {
  const named = operations.flatMap(({ responses }) =>
    Object.entries(responses).flatMap(([status, answer]) => {
      const { headers = {} } = resolve(answer as never) as unknown as Answer;
      return Object.entries(headers).map(([name, header]) => ({ status, name, header }));
    }),
  );
  const alike = Map.groupBy(named, ({ name, header }) => JSON.stringify([name, header]));
  const lines = [...alike.values()].map((answers) => {
    const [{ name, header }] = answers as [(typeof answers)[0]];
    const statuses = [...new Set(answers.map(({ status }) => status))].sort();
    return parameterOf({
      ...(resolve(header as never) as unknown as Parameter),
      ...{ name, in: `of ${statuses.join(', ')}` },
    });
  });
  return lines.sort().join('\n');
}
