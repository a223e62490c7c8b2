/** Errors that end the command, their exit codes and messages. */
import { CommanderError } from 'commander';
import { DatabaseUnsupported, isDatabaseUnavailable } from '../../db/connection/database-errors.ts';
import { CommitOutcomeUnknown } from '../../db/connection/transaction.ts';
import { ConfigError } from '../../src/config/config.ts';
import { AudioStoreUnavailable } from '../../src/files/audio-store.ts';
import { Mistake, Refusal } from '../terminal/refusal.ts';
import { briefly } from '../terminal/text.ts';

/**
 * The refusal after an erasure whose audio could not be removed: the rows are deleted, and the worker's sweep removes
 * the audio.
 */
export const audioLeft = ({ message }: Error) =>
  new Refusal(`Everything is erased but audio on disk (${message}); a running worker removes it within two hours.`);

/** Ctrl-C. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';

  constructor() {
    super('Interrupted: nothing was changed.');
  }
}

/** The reader of a long answer has stopped (`| head`). */
export class NobodyReads extends Error {
  override readonly name = 'NobodyReads';
}

/** 2 for a mistake in usage or configuration, 1 for a refusal or a fault, 130 for Ctrl-C, 0 after `--help` and when the reader has stopped. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof NobodyReads) return 0;
  if (error instanceof Mistake || error instanceof ConfigError) return 2;
  return error instanceof Interrupted ? 130 : 1;
}

/** Undefined where nothing is left to say; commander says what it finds itself. */
export function messageOf(error: unknown): string | undefined {
  if (error instanceof CommanderError || error instanceof NobodyReads) return undefined;
  if ([Refusal, Mistake, ConfigError, DatabaseUnsupported, Interrupted].some((kind) => error instanceof kind))
    return (error as Error).message;
  if (error instanceof CommitOutcomeUnknown) {
    return `${error.message}: look whether it happened before you try again.`;
  }
  if (error instanceof AudioStoreUnavailable)
    return `${error.message}. Is AUDIO_STORE right, and do its keys allow it?`;
  if (isDatabaseUnavailable(error)) {
    return `The database can not be reached (${briefly(error)}). Is DATABASE_URL right, and is it running?`;
  }
  // Only the stack: other properties of a database error quote rows.
  return error instanceof Error ? `This should not have happened.\n${error.stack}${causeOf(error)}` : String(error);
}

const causeOf = ({ cause }: Error) => (cause instanceof Error ? `\ncaused by ${cause.stack}` : '');
