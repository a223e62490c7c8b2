import { readConfig } from '../../../src/config/config.ts';
import { parseDatabaseUrl } from '../../../src/config/values.ts';
import { bareAudioStore } from '../../../src/files/select-audio-store.ts';
import { explainMistakes } from '../answer.ts';
import { addCommand } from '../command.ts';
import { Mistake } from '../../terminal/mistake.ts';
import { noProgress, showProgressOn } from '../../terminal/show-progress.ts';
import { moveToDatabase } from './to-database.ts';
import { moveToStore } from './to-store.ts';
import type { Command } from 'commander';
import type { Config } from '../../../src/config/config.ts';
import type { Screen } from '../../terminal/terminal.ts';
import type { Progress } from '../../terminal/progress.ts';
import type { AdminContext } from '../admin-context.ts';
import type { Answer } from '../answer.ts';
import type { Report } from '../command.ts';

interface Options {
  toStore?: string;
  toDatabase?: string;
}

const form = 'postgres://user@host:port/database, with its password in PGPASSWORD';

export function addMoveCommand(program: Command, answer: Answer, env: NodeJS.ProcessEnv): void {
  const describes =
    'Move what is kept to another place while nothing serves, and verify it there. Interrupted, or killed, it is typed again. ' +
    'What was stays where it is.';
  const toStore = 'move --to-store s3://transcription/audio';
  const toDatabase = 'move --to-database postgres://transcription@db.internal:5432/transcription';
  addCommand(program, 'move', describes, toStore, 'move --to-store file:', toDatabase)
    .option('--to-store <place>', 'the audio, from AUDIO_STORE to this one, as AUDIO_STORE would name it')
    .option('--to-database <url>', `the database, to this empty one: ${form}`)
    .action(async (options: Options, command: Command) => {
      const work = await explainMistakes(command, () => workOf(options, env));
      await answer(command, (admin, form, { interrupted }) => work(admin, progressOn(admin.screen, form), interrupted));
    });
}

type Work = (admin: AdminContext, progress: Progress, signal: AbortSignal) => Promise<Report>;

async function workOf({ toStore, toDatabase }: Options, env: NodeJS.ProcessEnv): Promise<Work> {
  if ((toStore === undefined) === (toDatabase === undefined))
    throw new Mistake('Type where to: --to-store or --to-database, one of them.');
  if (toStore !== undefined) {
    const to = await bareAudioStore(readConfig({ ...env, AUDIO_STORE: toStore }));
    const target = { to, settings: settingsFor(toStore, env), removal: removalFrom(readConfig(env)) };
    return (admin, progress, signal) => moveToStore(admin, target, progress, signal);
  }
  const url = parseDatabaseUrl(toDatabase!);
  if (url === undefined) throw new Mistake(`--to-database is no address of a database. Type ${form}.`);
  return (admin, progress, signal) => moveToDatabase(admin, url, progress, signal);
}

const progressOn = (screen: Screen, form: 'json' | 'text') =>
  form === 'json' && !screen.isTTY ? noProgress : showProgressOn(screen, { keep: false });

/** What says where the new store is. Secrets stay where they are. */
function settingsFor(place: string, env: NodeJS.ProcessEnv): Record<string, string> {
  const names = place === 'file:' ? [] : ['AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL', 'AWS_REGION'];
  const set = names.flatMap((name) => (env[name]?.trim() ? [[name, env[name]] as const] : []));
  return { AUDIO_STORE: place, ...Object.fromEntries(set) };
}

/** The folder of uploads that are being received stays. */
function removalFrom({ objectPlace, dataDir }: Config): string {
  if (objectPlace !== undefined) return `aws s3 rm --recursive s3://${objectPlace.bucket}/${objectPlace.prefix}`;
  return `find ${dataDir}/audio -mindepth 1 -maxdepth 1 ! -name incoming -exec rm -r {} +`;
}
