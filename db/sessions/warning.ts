/** The contract's `TranscriptWarning.code`. */
export type WarningCode =
  'truncated' | 'quiet' | 'clipped' | 'narrowband' | 'other_tracks_ignored' | 'speech_uncertain';

/** The contract's `TranscriptWarning`, without its sentence. */
export interface Warning {
  code: WarningCode;
  /** With `speech_uncertain`: where the stretch begins and ends, in ms from the start of the audio. */
  startMs?: number;
  endMs?: number;
}
