import { availableParallelism } from 'node:os';
import { AudioError } from '../../audio/audio-error.ts';
import { measureAudio } from '../../audio/measure.ts';
import { countChannels, mostChannels } from '../../audio/tracks.ts';
import { FairTurns } from '../../concurrency/fair-turns.ts';
import { ApiError, unavailable } from '../answers/problem.ts';

const timeLimitMs = 120_000;
const countLimitMs = 10_000;
/** Ordinary files take less: 50 MB of MP3 take a third of a second, 1 GiB takes some seconds. */
const patienceMs = 5_000;

export class UploadMeasurements {
  /** Each measurement is a process that reads a whole file, so many uploads at once wait for each other here. */
  readonly #turns = new FairTurns({ atOnce: 2 * availableParallelism(), each: availableParallelism(), patienceMs });

  /**
   * The duration of an upload in ms; undefined when it can't be measured.
   * @param account the account of the upload, and the longest audio that it may upload
   * @throws {ApiError} 415 `unsupported_media`, 422 `no_audio_track`, 422 `audio_too_long` as soon as that is known, 422 `too_many_channels`, 503
   *   `unavailable` when `signal` ends it
   */
  async measure(
    path: string,
    account: { id: string; maxAudioMs: number },
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const { id, maxAudioMs: maxDurationMs } = account;
    const measure = () => measureAudio(path, { timeLimitMs, maxDurationMs, signal });
    const measured = await this.#inTurn(id, measure, signal);
    if (!(measured instanceof AudioError)) return measured;
    const { code, message } = measured;
    if (code === 'audio_too_long') throw audioTooLong(maxDurationMs);
    if (code === 'no_audio_track') throw new ApiError(422, 'no_audio_track', 'The file has no audio track.');
    if (code === 'too_many_channels')
      throw new ApiError(422, 'too_many_channels', `The audio has ${message}, which is too many.`);
    throw unreadableFile();
  }

  /**
   * How many channels of an upload will be transcribed separately. Where they can't be counted, as many as there may be: the
   * worker will say why.
   * @throws {ApiError} 503 `unavailable` when `signal` ends it
   */
  async channels(path: string, accountId: string, signal: AbortSignal): Promise<number> {
    const count = () => countChannels({ input: path, timeLimitMs: countLimitMs, signal });
    const counted = await this.#inTurn(accountId, count, signal);
    return counted instanceof AudioError ? mostChannels : Math.min(mostChannels, counted.channels);
  }

  async #inTurn<Result>(accountId: string, work: () => Promise<Result>, signal: AbortSignal) {
    return this.#turns.run(accountId, work).catch((error: unknown) => {
      if (signal.aborted) throw unavailable('The client left while its upload was measured.');
      if (!(error instanceof AudioError)) throw error;
      return error;
    });
  }
}

/** @throws {ApiError} 422 `audio_too_long` */
export function refuseLongAudio(durationMs: number | undefined, limitMs: number): void {
  if (durationMs !== undefined && durationMs > limitMs) throw audioTooLong(limitMs);
}

function unreadableFile(): ApiError {
  const message = 'is not in a media format that can be read';
  return new ApiError(415, 'unsupported_media', `The file ${message}.`, {
    errors: [{ in: 'body', name: 'file', message }],
  });
}

const audioTooLong = (limitMs: number) =>
  new ApiError(422, 'audio_too_long', `The audio is longer than ${limitMs} ms.`, { limitMs });
