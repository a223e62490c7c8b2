import { availableParallelism } from 'node:os';
import pLimit from 'p-limit';
import { AudioError } from '../../audio/audio-error.ts';
import { measureAudio } from '../../audio/measure.ts';
import { ApiError, unavailable } from '../answers/problem.ts';

const timeLimitMs = 120_000;
// Each is a process that reads a whole file: many uploads at once wait for each other here.
const atOnce = pLimit(2 * availableParallelism());

/**
 * The duration of an upload in ms; undefined when it can not be measured (decisions, section 4).
 *
 * @throws {ApiError} 415 `unsupported_media`, 422 `no_audio_track`, 503 `unavailable` when `signal` ends it
 */
export async function measureUpload(path: string, signal: AbortSignal): Promise<number | undefined> {
  try {
    return (await atOnce(() => measureAudio(path, { timeLimitMs, signal }))).durationMs;
  } catch (error) {
    if (signal.aborted) throw unavailable('The client left while its upload was measured.');
    if (!(error instanceof AudioError)) throw error;
    if (error.code === 'no_audio_track') throw new ApiError(422, 'no_audio_track', 'The file has no audio track.');
    throw new ApiError(415, 'unsupported_media', 'The file is not in a media format that can be read.');
  }
}

/** @throws {ApiError} 422 `audio_too_long` */
export function refuseLongAudio(durationMs: number | undefined, limitMs: number): void {
  if (durationMs === undefined || durationMs <= limitMs) return;
  throw new ApiError(422, 'audio_too_long', `The audio is longer than ${limitMs} ms.`, { limitMs });
}
