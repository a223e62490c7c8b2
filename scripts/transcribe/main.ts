/** `npm run transcribe -- FILE`: uploads a recording, waits, prints its transcript. Progress and errors go to stderr. */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import { findApiKey } from '../local-service/demo-key-file.ts';
import { createApiClient } from '../terminal/api-client.ts';
import { showProgressOn } from '../terminal/progress.ts';
import { Refusal } from '../terminal/refusal.ts';
import { render } from './rendering.ts';
import { transcribe } from './session.ts';
import type { Rendering } from './rendering.ts';

const renderings = ['srt', 'vtt', 'md', 'json', 'words'] as const;
const without = (name: (typeof renderings)[number]) => renderings.filter((other) => other !== name);

const command = new Command('npm run transcribe --')
  .description('Uploads a recording to the service, waits for its transcript and prints it.')
  .argument('FILE', 'a recording, anything with an audio track')
  .addOption(new Option('--srt', 'print SubRip captions').conflicts(without('srt')))
  .addOption(new Option('--vtt', 'print WebVTT captions').conflicts(without('vtt')))
  .addOption(new Option('--md', 'print Markdown: paragraphs by speaker and pause').conflicts(without('md')))
  .addOption(new Option('--json', 'print segments with times and confidences').conflicts(without('json')))
  .addOption(new Option('--words', 'like --json, with each word').conflicts(without('words')))
  .option('--url <URL>', 'where the service answers', `http://127.0.0.1:${process.env['PORT'] || 8080}/v1`)
  .option('--key <KEY>', 'API key (better: the variable TRANSCRIPTION_API_KEY; else the demo key of the quickstart)')
  .showHelpAfterError('What it takes: npm run transcribe -- --help')
  .exitOverride((end) => process.exit(end.exitCode === 0 ? 0 : 2))
  .parse();

type Choices = { url: string; key?: string } & Partial<Record<(typeof renderings)[number], true>>;
const { url, key, ...chosen } = command.opts<Choices>();
// npm runs scripts in the project's folder; a person means the folder he typed in.
const file = resolve(process.env['INIT_CWD'] ?? '', command.args[0]!);
const rendering: Rendering = renderings.find((name) => chosen[name]) ?? 'text';

const status = await stat(file).catch(() => undefined);
if (status === undefined) command.error(`There is no file ${file}`);
if (!status?.isFile()) command.error(`${file} is not a file`);
if (!URL.canParse(url)) command.error(`--url ${url} is not an address such as http://127.0.0.1:8080/v1`);
const apiKey = await findApiKey(key, url);
if (apiKey === undefined) command.error('An API key is needed: set TRANSCRIPTION_API_KEY, or run ./scripts/quickstart');

try {
  const client = createApiClient(url, apiKey!);
  const progress = showProgressOn(process.stderr);
  const transcript = await transcribe(client, file, { words: rendering === 'words', progress });
  if (transcript.segments.length === 0) progress.say('Nothing was said in this recording; nothing was charged.');
  process.stdout.write(await render(client, transcript, rendering, progress));
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
