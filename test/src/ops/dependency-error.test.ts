import { open } from 'node:fs/promises';
import { AudioError, AudioToolError } from '../../../src/audio/audio-error.ts';
import { ChildNotStarted, killedBy } from '../../../src/children/child.ts';
import { ExecutableNotFound } from '../../../src/children/bounded-command.ts';
import { DependencyError, dependencyErrorOf } from '../../../src/ops/dependency-error.ts';
import { RecognizerError } from '../../../src/recognizers/recognizer.ts';

/** What Node says when the disk is full. */
async function diskFull(): Promise<unknown> {
  await using file = await open('/dev/full', 'w');
  return file.writeFile('words').catch((error: unknown) => error);
}

test('a full disk, a missing program, one that can not start or was killed → the operator is to blame', async () => {
  const full = await diskFull();
  expect(dependencyErrorOf(full)).toBe(full);
  for (const fault of [new ExecutableNotFound('ffmpeg'), new ChildNotStarted('EAGAIN'), killedBy('sox', 'SIGKILL')]) {
    expect(dependencyErrorOf(fault)).toBe(fault);
  }
});

test('the same behind another error → found', async () => {
  const missing = new ExecutableNotFound('ffmpeg');
  const tool = new AudioToolError(missing.message, { cause: missing });
  expect(dependencyErrorOf(tool)).toBe(missing);
  const options = { retryable: true, cause: tool };
  expect(dependencyErrorOf(new RecognizerError('recognizer_error', 'no', options))).toBe(missing);
  const gone = new DependencyError('no disk', { cause: await diskFull() });
  expect(dependencyErrorOf(gone)).toBe(gone);
});

test('the file, a crash, a lost file, a server that is away → nobody else is to blame', async () => {
  const lost: unknown = await open('/no/such/file').catch((error: unknown) => error);
  const away = Object.assign(new Error('connect'), { code: 'ECONNREFUSED', syscall: 'connect' });
  const innocent = [
    new AudioError('unsupported_media', 'no'),
    killedBy('sox', 'SIGSEGV'),
    lost,
    away,
    undefined,
    'text',
  ];
  for (const error of innocent) expect(dependencyErrorOf(error)).toBeUndefined();
});
