/** Sends one recording through the service, or goes on with its session. */
import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import { onOneLine, readableSize } from '../terminal/text.ts';
import { RecordingFile } from './recording-file.ts';
import { upload } from './upload.ts';
import { awaitTranscript } from './waiting.ts';
import type { Schema } from '../../codegen/operations.ts';
import type { ApiClient } from '../terminal/api-client.ts';
import type { Progress, Step } from '../terminal/bars.ts';
import type { FormFields } from './form-fields.ts';
import type { Asking } from './persistence.ts';

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
  await using recording = await RecordingFile.open(file);
  const sending = { recording, fields, idempotencyKey: randomUUID() };
  const name = onOneLine(basename(file));
  const step = course.progress.begin(`Uploading ${name} (${readableSize(recording.state.bytes)})`, 100);
  const transcript = await endingStep(step, async () => {
    const sessionId = await upload(client, sending, course, (part) => step.reach(100 * part));
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

const mostPlaces = 5;

/** What a person is told of a recording: a line for each kind of warning, with the first places in the recording. */
export function warningLines(warnings: readonly Schema<'Warning'>[]): string[] {
  const kinds = Map.groupBy(warnings, ({ code }) => code);
  return [...kinds.values()].map((ofKind) => {
    const places = ofKind.flatMap(placeOf);
    const more = places.length > mostPlaces ? `, and ${places.length - mostPlaces} more` : '';
    const where = places.length > 0 ? ` (${places.slice(0, mostPlaces).join(', ')}${more})` : '';
    return `${ofKind[0]!.message}${where}`;
  });
}

const placeOf = ({ startMs, endMs }: Schema<'Warning'>): string[] =>
  startMs === undefined || endMs === undefined ? [] : [`${clock(startMs)} to ${clock(endMs)}`];

/** `h:mm:ss` */
function clock(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const two = (value: number) => String(value % 60).padStart(2, '0');
  return `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60))}:${two(seconds)}`;
}
