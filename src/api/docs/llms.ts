/** `/llms.txt` (llmstxt.org): what the contract says, in short, for programs that read text. */
import { readFile } from 'node:fs/promises';

interface Operation {
  operationId: string;
  summary: string;
  description: string;
  'x-required-scope'?: string;
  'x-codeSamples'?: { lang: string; label: string; source: string }[];
}

interface Contract {
  info: { title: string; version: string; description: string };
  servers: [{ url: string }];
  paths: Record<string, Record<string, Operation>>;
}

export async function llmsText(): Promise<string> {
  const file = new URL('../../../codegen/openapi.json', import.meta.url);
  const { info, servers, paths } = JSON.parse(await readFile(file, 'utf8')) as Contract;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, name: `${method.toUpperCase()} ${path}` })),
  );
  const [summary, ...about] = info.description.trim().split('\n\n');
  const samples = operations.flatMap((operation) => operation['x-codeSamples'] ?? []);
  return (
    [
      `# ${info.title}`,
      `> ${summary}`,
      ...about,
      `All paths are below \`${servers[0].url}\` of this host.`,
      '## Contract',
      '- [OpenAPI document](/openapi.json): every parameter, field, error and example; the source of truth\n' +
        '- [The same for people](/docs)',
      '## Operations',
      ...operations.map(
        (operation) =>
          `### ${operation.name}\n\n${operation.summary}.${scopeOf(operation)}\n\n${operation.description.trim()}`,
      ),
      '## Upload, wait, read',
      ...samples.map(({ lang, label, source }) => `${label}:\n\n\`\`\`${lang.toLowerCase()}\n${source.trim()}\n\`\`\``),
    ].join('\n\n') + '\n'
  );
}

const scopeOf = ({ 'x-required-scope': scope }: Operation) => (scope === undefined ? '' : ` Scope: \`${scope}\`.`);
