/** Sends one recording through the service, or goes on with its session. */
import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import { onOneLine } from '../terminal/one-line.ts';
import { readableSize } from '../terminal/readable.ts';
import { RecordingFile } from './recording-file.ts';
import { upload } from './upload.ts';
import { awaitTranscript } from './waiting.ts';
import { warningLines } from './warning-lines.ts';
import type { Schema } from '../../codegen/operations.ts';
import type { ApiClient } from '../terminal/api-client.ts';
import type { Progress, Step } from '../terminal/progress.ts';
import type { FormFields } from './form-fields.ts';
import type { Asking } from './persistence.ts';
import type { Upload } from './upload.ts';

export interface Course extends Asking {
  progress: Progress;
  /** Asks for the words, too. */
  words?: boolean;
  /** How many recordings are on their way at once. */
  together?: number;
}

/** Says on the screen that the service is asked again. */
export const sayingPauses =
  ({ say }: Progress): Asking['onPause'] =>
  (why, ms) =>
    say(`${why}; trying again in ${ms / 1000} s`);

/**
 * Uploads a file and waits for its transcript.
 * @throws {Refusal} when the service refuses the file, fails to transcribe it or can't be reached
 * @throws {NotSent | Unfinished} when `signal` aborts
 */
export async function transcribe(
  client: ApiClient,
  file: string,
  fields: FormFields,
  course: Course,
): Promise<Schema<'Transcript'>> {
  await using recording = await RecordingFile.open(file, 'follow');
  // Awaited here, because the file is closed when this returns.
  return await sendAndAwait(client, { recording, fields, idempotencyKey: randomUUID() }, course);
}

/**
 * As {@link transcribe}.
 * @param onAccepted is awaited before the transcript is
 */
export async function sendAndAwait(
  client: ApiClient,
  sending: Upload,
  course: Course,
  onAccepted?: (sessionId: string) => Promise<void>,
): Promise<Schema<'Transcript'>> {
  const name = onOneLine(basename(sending.recording.path));
  const step = course.progress.begin(`Uploading ${name} (${readableSize(sending.recording.state.bytes)})`, 100);
  const transcript = await endingStep(step, async () => {
    const sessionId = await upload(client, sending, course, (part) => step.reach(100 * part));
    await onAccepted?.(sessionId);
    step.next(`Transcribing ${name}`, 100);
    return awaitTranscript(client, sessionId, { ...course, onPercent: step.reach });
  });
  return sayingWarnings(name, transcript, course);
}

/**
 * The transcript of a session that was begun before.
 * @param name what is shown
 * @throws {SessionFailed | Unfinished}
 */
export async function goOnWith(
  client: ApiClient,
  sessionId: string,
  name: string,
  course: Course,
): Promise<Schema<'Transcript'>> {
  const step = course.progress.begin(`Transcribing ${onOneLine(name)}`, 100);
  const transcript = await endingStep(step, () =>
    awaitTranscript(client, sessionId, { ...course, onPercent: step.reach }),
  );
  return sayingWarnings(onOneLine(name), transcript, course);
}

function sayingWarnings(name: string, transcript: Schema<'Transcript'>, { progress }: Course): Schema<'Transcript'> {
  for (const line of warningLines(transcript.warnings ?? [])) progress.say(`${name}: ${line}`);
  return transcript;
}

async function endingStep<Result>(step: Step, work: () => Promise<Result>): Promise<Result> {
  let succeeded = false;
  try {
    const result = await work();
    succeeded = true;
    return result;
  } finally {
    step.end(succeeded);
  }
}
