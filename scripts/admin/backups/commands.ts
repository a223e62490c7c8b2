import { readConfig } from '../../../src/config/config.ts';
import { whoTyped } from '../answer.ts';
import { addCommand } from '../command.ts';
import { backUp } from './backup.ts';
import { bringBack, look } from './restore.ts';
import type { Command } from 'commander';
import type { Answer } from '../answer.ts';

export function addBackupCommands(program: Command, answer: Answer, env: NodeJS.ProcessEnv): void {
  const backsUp = 'Copy the embedded database and its audio as they are at one moment, while the service works.';
  addCommand(program, 'backup', backsUp, 'backup --to /mnt/backups/2026-11-22')
    .requiredOption('--to <folder>', 'a folder that is not there yet, or is empty')
    .action(({ to }: { to: string }, command: Command) => answer(command, (admin) => backUp(admin, to)));

  const restores = 'Make a data folder of a backup, in an empty DATA_DIR, and verify it.';
  addCommand(program, 'restore', restores, 'restore --from /mnt/backups/2026-11-22')
    .requiredOption('--from <folder>', 'what "backup" has written')
    .action(async ({ from }: { from: string }, command: Command) => {
      // Looked at first: a restore takes long.
      await whoTyped(command, env);
      await bringBack(readConfig(env), from);
      await answer(command, look);
    });
}
