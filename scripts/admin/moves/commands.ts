import { readConfig } from '../../../src/config/config.ts';
import { bareAudioStore } from '../../../src/files/select-audio-store.ts';
import { explainMistakes } from '../answer.ts';
import { addCommand } from '../command.ts';
import { Mistake } from '../../terminal/mistake.ts';
import { noProgress, showProgressOn } from '../../terminal/show-progress.ts';
import { moveToStore } from './to-store.ts';
import type { Command } from 'commander';
import type { Config } from '../../../src/config/config.ts';
import type { Screen } from '../../terminal/terminal.ts';
import type { Answer } from '../answer.ts';

interface Options {
  toStore?: string;
}

export function addMoveCommand(program: Command, answer: Answer, env: NodeJS.ProcessEnv): void {
  const describes =
    'Move what is kept to another place while nothing serves, and verify it there. Interrupted, or killed, it is typed again. ' +
    'What was stays where it is.';
  addCommand(program, 'move', describes, 'move --to-store s3://transcription/audio', 'move --to-store file:')
    .option('--to-store <place>', 'the audio, from AUDIO_STORE to this one, as AUDIO_STORE would name it')
    .action(async ({ toStore }: Options, command: Command) => {
      const place = await explainMistakes(command, async () => {
        if (toStore === undefined) throw new Mistake('Type where to: --to-store.');
        return toStore;
      });
      const [old, next] = [readConfig(env), readConfig({ ...env, AUDIO_STORE: place })];
      const to = await bareAudioStore(next);
      const target = { to, settings: settingsFor(place, env), removal: removalFrom(old) };
      await answer(command, (admin, form, { interrupted }) =>
        moveToStore(admin, target, progressOn(admin.screen, form), interrupted),
      );
    });
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
