/** Sends one recording through the service, or goes on with its session. */
import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { onOneLine, readableSize } from '../terminal/text.ts';
import { NotSent, explained } from './refusals.ts';
import { awaitTranscript } from './waiting.ts';
import type { Asking, Schemas, Transcript, TranscriptionClient, UploadFields } from '../client/index.ts';
import type { Progress, Step } from '../terminal/show-progress.ts';

export interface Course extends Asking {
  progress: Progress;
  /** Asks for the words, too. */
  words?: boolean;
  /** How many recordings are on their way at once. */
  together?: number;
}

/** Says on the screen that the service is asked again. */
export const sayingPauses =
  ({ say }: Progress): NonNullable<Asking['onPause']> =>
  (why, ms) =>
    say(`${explained(why).split('\n')[0]}; trying again in ${Math.round(ms / 1000)} s`);

/**
 * Uploads a file and waits for its transcript.
 * @throws {RequestFailed | NoAnswer | NotReadable | SessionFailed}
 * @throws {NotSent | Unfinished} when `signal` aborts
 */
export async function transcribe(
  client: TranscriptionClient,
  path: string,
  fields: UploadFields,
  course: Course,
): Promise<Transcript> {
  const file = new File([await openAsBlob(path)], basename(path));
  const name = onOneLine(file.name);
  const step = course.progress.begin(`Uploading ${name} (${readableSize(file.size)})`, 100);
  const transcript = await endingStep(step, async () => {
    const sessionId = await upload(client, file, fields, course, (part) => step.reach(100 * part));
    step.next(`Transcribing ${name}`, 100);
    return awaitTranscript(client, sessionId, { ...course, onPercent: step.reach });
  });
  return sayingWarnings(name, transcript, course);
}

/** How long an interrupted command waits for the answer to an upload that was sent to its end. */
const answerWithinMs = 5_000;

async function upload(
  client: TranscriptionClient,
  file: File,
  fields: UploadFields,
  { onPause, signal }: Course,
  onSent: (part: number) => void,
): Promise<string> {
  let isWhole = false;
  const giveUp = new AbortController();
  // What was sent to its end may be accepted, so its answer is worth waiting for.
  let waiting: NodeJS.Timeout | undefined;
  const interrupt = () => {
    if (isWhole) waiting = setTimeout(() => giveUp.abort(), answerWithinMs);
    else giveUp.abort();
  };
  signal?.addEventListener('abort', interrupt);
  const reach = (part: number) => {
    isWhole = part === 1;
    onSent(part);
  };
  try {
    signal?.throwIfAborted();
    return (await client.upload(file, fields, { ...(onPause && { onPause }), signal: giveUp.signal, onSent: reach }))
      .sessionId;
  } catch (error) {
    if (signal?.aborted) throw new NotSent(isWhole);
    throw error;
  } finally {
    clearTimeout(waiting);
    signal?.removeEventListener('abort', interrupt);
  }
}

/**
 * The transcript of a session that was begun before.
 * @param name what is shown
 * @throws {SessionFailed | Unfinished}
 */
export async function goOnWith(
  client: TranscriptionClient,
  sessionId: string,
  name: string,
  course: Course,
): Promise<Transcript> {
  const step = course.progress.begin(`Transcribing ${onOneLine(name)}`, 100);
  const transcript = await endingStep(step, () =>
    awaitTranscript(client, sessionId, { ...course, onPercent: step.reach }),
  );
  return sayingWarnings(onOneLine(name), transcript, course);
}

function sayingWarnings(name: string, transcript: Transcript, { progress }: Course): Transcript {
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

/** A line for each kind of warning, with the first places in the recording. */
export function warningLines(warnings: readonly Schemas['TranscriptWarning'][]): string[] {
  const kinds = Map.groupBy(warnings, ({ code }) => code);
  return [...kinds.values()].map((ofKind) => {
    const places = ofKind.flatMap(placeOf);
    const more = places.length > mostPlaces ? `, and ${places.length - mostPlaces} more` : '';
    const where = places.length > 0 ? ` (${places.slice(0, mostPlaces).join(', ')}${more})` : '';
    return `${ofKind[0]!.message}${where}`;
  });
}

const placeOf = ({ startMs, endMs }: Schemas['TranscriptWarning']): string[] =>
  startMs === undefined || endMs === undefined ? [] : [`${clock(startMs)} to ${clock(endMs)}`];

/** `h:mm:ss` */
function clock(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const two = (value: number) => String(value % 60).padStart(2, '0');
  return `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60))}:${two(seconds)}`;
}
