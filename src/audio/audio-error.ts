export type AudioErrorCode =
  'unsupported_media' | 'no_audio_track' | 'audio_too_long' | 'timed_out' | 'too_many_channels';

/** The file is at fault: the same file fails in the same way again. A client may see `code`. */
export class AudioError extends Error {
  override readonly name = 'AudioError';
  readonly code: AudioErrorCode;

  constructor(code: AudioErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

export const audioTooLong = (limitMs: number): AudioError =>
  new AudioError('audio_too_long', `more than ${limitMs} ms of audio`);

/**
 * The file is not at fault, and a later try may succeed. When the operator has to fix something first (no ffmpeg, a
 * full disk, input that can't be read), `cause` says what: see `dependencyErrorOf`. Otherwise ffmpeg crashed.
 */
export class AudioToolError extends Error {
  override readonly name = 'AudioToolError';
}
