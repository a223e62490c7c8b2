/** What can be typed, and what it asks for. */
import { resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { Mistake } from '../terminal/refusal.ts';
import { formats } from './formats.ts';
import { formFields, uploadOptions } from './form-fields.ts';
import type { UploadFields } from '../client/index.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { Format } from './formats.ts';

/** Without `--silent`, npm writes two lines of its own before the transcript. */
export const invocation = 'npm run --silent transcribe --';

/** What follows after every mistake. */
export const whatItTakes = `What it takes: ${invocation} --help`;

export interface Wish {
  /** The folder in which it was typed. */
  here: string;
  /** Absolute paths of files and folders. */
  sources: string[];
  session?: string;
  /** Where results go, an absolute path. */
  out?: string;
  force: boolean;
  format: Format;
  fields: UploadFields;
  atOnce: number;
  url: string;
  key?: string;
}

const shortcuts = ['srt', 'vtt', 'md', 'json', 'words'] as const;
const shortcut = (name: (typeof shortcuts)[number]) =>
  new Option(`--${name}`, `the same as --format ${name}`).conflicts([
    'format',
    ...shortcuts.filter((other) => other !== name),
  ]);

export const defaultUrl = (env: NodeJS.ProcessEnv): string => `http://127.0.0.1:${env['PORT'] || 8080}/v1`;

function createProgram({ env, out, err }: Terminal): Command {
  const program = new Command(invocation)
    .description('Uploads recordings to the service, waits for their transcripts, and prints or writes them.')
    .argument('[FILE...]', 'recordings, or folders: the audio and video files in them, by what their names end in')
    .addOption(new Option('--format <FORMAT>', 'how transcripts are written').choices(formats).default('txt'))
    .option('--out <FOLDER>', 'write transcripts there; without it, one file is printed, several go beside each')
    .option('--force', 'transcribe again what has its transcript already, and replace that')
    .option('--at-once <COUNT>', 'how many recordings may be on their way at once', wholeNumber, 4)
    .option('--session <ID>', 'print the transcript of a session that was begun before; it costs nothing again')
    .addOption(new Option('--watch <FOLDER>').hideHelp())
    .option('--url <URL>', 'where the service answers', defaultUrl(env))
    .option('--key <KEY>', 'API key (better: the variable TRANSCRIPTION_API_KEY; else the demo key of the quickstart)')
    .configureHelp({ helpWidth: 110 })
    .showHelpAfterError(whatItTakes)
    .configureOutput({ writeOut: (text) => void out.write(text), writeErr: (text) => void err.write(text) })
    .exitOverride();
  for (const option of [...uploadOptions(), ...shortcuts.map(shortcut)]) program.addOption(option);
  return program;
}

type Typed = Pick<Wish, 'format' | 'atOnce' | 'url'> &
  Partial<Pick<Wish, 'force' | 'key' | 'session'> & { out: string; watch: string }> &
  Partial<Record<(typeof shortcuts)[number], true>>;

/** @throws {CommanderError | Mistake} what was typed wrong; commander has said so already */
export function readWish(terminal: Terminal): Wish {
  const { argv, env } = terminal;
  const program = createProgram(terminal).parse(argv, { from: 'user' });
  // npm runs scripts in the project's folder; a person means the folder he typed in.
  const here = env['INIT_CWD'] ?? '';
  const meant = (path: string) => resolve(here, path);
  const { format, force = false, atOnce, url, key, session, out, watch, ...others } = program.opts<Typed>();
  if (watch !== undefined)
    refuse('--watch is gone. Type FOLDER --out FOLDER again, from cron for one: it leaves out what has its transcript');
  const fields = formFields(others);
  const wish: Wish = {
    sources: program.args.map(meant),
    ...{ here, force, fields, atOnce, url },
    format: shortcuts.find((name) => others[name]) ?? format,
    ...(session !== undefined && { session }),
    ...(out !== undefined && { out: meant(out) }),
    ...(key !== undefined && { key }),
  };
  refuseContradictions(wish);
  return wish;
}

function refuseContradictions({ sources, session, out, force, fields, url }: Wish): void {
  if (sources.length === 0 && session === undefined) refuse('Say what to transcribe: a FILE, a folder or --session ID');
  if (sources.length > 0 && session !== undefined) refuse('FILE and --session are two different things: one at a time');
  if (session !== undefined && (out !== undefined || force || Object.keys(fields).length > 0))
    refuse('--session prints a transcript that is there: it takes a format and nothing else');
  if (!URL.canParse(url)) refuse(`--url ${url} is not an address such as http://127.0.0.1:8080/v1`);
}

function refuse(message: string): never {
  throw new Mistake(message);
}

function wholeNumber(typed: string): number {
  if (/^[1-9]\d?$/.test(typed)) return Number(typed);
  throw new InvalidArgumentError('Expected a whole number from 1 to 99.');
}
