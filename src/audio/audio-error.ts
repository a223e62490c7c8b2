export type AudioErrorCode = 'unsupported_media' | 'no_audio_track' | 'audio_too_long' | 'timed_out';

/** The file's fault: the same file fails the same way again. `code` is what a client may see. */
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
 * Not the file's fault: trying again later may help. Where the operator has to put something right first (ffmpeg missing,
 * disk full, input unreadable), `cause` says what: see `operatorFaultBehind`. Otherwise ffmpeg crashed.
 */
export class AudioToolError extends Error {
  override readonly name = 'AudioToolError';
}
