/** Several recordings, a few at a time; each becomes a file. */
import pLimit from 'p-limit';
import { NoAnswer, RequestFailed } from '../client/index.ts';
import { shown } from '../terminal/text.ts';
import { Refusal } from '../terminal/refusal.ts';
import { render } from './formats.ts';
import { NotSent, Unfinished } from './refusals.ts';
import { writeResult } from './results.ts';
import { transcribe } from './session.ts';
import type { TranscriptionClient } from '../client/index.ts';
import type { Wish } from './program.ts';
import type { Course } from './session.ts';
import type { Target } from './targets.ts';

export interface Outcome {
  file: string;
  /** Undefined when the result was written. */
  failure?: Error;
}

type Manner = Pick<Wish, 'here' | 'fields' | 'format' | 'force' | 'atOnce'>;

/** What happened to each, in the order of the targets. A recording that fails doesn't stop the others. */
export async function transcribeSeveral(
  client: TranscriptionClient,
  targets: readonly Target[],
  { here, fields, format, force, atOnce }: Manner,
  course: Course,
): Promise<Outcome[]> {
  const together = Math.min(atOnce, targets.length);
  const limit = pLimit(together);
  let hopeless: Error | undefined;

  async function written({ file, result }: Target): Promise<string> {
    if (course.signal?.aborted) throw new NotSent(false);
    if (hopeless !== undefined) throw new Refusal('Not tried, because of the refusal above');
    const transcript = await transcribe(client, file, fields, { ...course, together, words: format === 'words' });
    const text = await render(client, transcript, format, course);
    const { sessionId } = transcript;
    const isWritten = await writeResult(result, text, { replace: force }).catch((error: Error) => {
      throw new Unfinished(sessionId, new Refusal(`${shown(result, here)} can't be written: ${error.message}`));
    });
    if (!isWritten) throw new Unfinished(sessionId, new Refusal(`${shown(result, here)} is there meanwhile`));
    return transcript.segments.length === 0
      ? `${shown(result, here)} (nothing was said, nothing was charged)`
      : shown(result, here);
  }

  async function outcomeOf(target: Target): Promise<Outcome> {
    const { file } = target;
    try {
      course.progress.say(`${shown(file, here)} → ${await written(target)}`);
      return { file };
    } catch (error) {
      const failure = error as Error;
      if (concernsAll(failure)) hopeless ??= failure;
      // Why is said once, at the end, with what to do about it.
      if (!course.signal?.aborted) course.progress.say(`${shown(file, here)} → no transcript`);
      return { file, failure };
    }
  }

  return Promise.all(targets.map((target) => limit(() => outcomeOf(target))));
}

/** No recording would meet anything else. */
function concernsAll(failure: Error): boolean {
  const { cause } = failure instanceof Unfinished ? failure : { cause: failure };
  return cause instanceof NoAnswer || (cause instanceof RequestFailed && [401, 403].includes(cause.status));
}
