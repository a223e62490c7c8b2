// Generated from openapi.yaml by `npm run generate`. Edit that instead.

/** When to repeat a request that got a problem, by the problem's `code`. */
export const retryOfProblem = {
  rate_limited: 'later',
  too_many_queued: 'later',
  transcript_not_ready: 'later',
  unavailable: 'same_key',
  upload_timeout: 'same_key',
  upload_incomplete: 'same_key',
  request_timeout: 'same_key',
  invalid_request: 'change_request',
  invalid_cursor: 'change_request',
  empty_file: 'change_request',
  unsupported_media: 'change_request',
  no_audio_track: 'change_request',
  audio_too_long: 'change_request',
  too_many_channels: 'change_request',
  language_not_supported: 'change_request',
  file_too_large: 'change_request',
  idempotency_key_reused: 'change_request',
  session_not_found: 'change_request',
  transcription_failed: 'change_request',
  not_acceptable: 'change_request',
  route_not_found: 'change_request',
  method_not_allowed: 'change_request',
  headers_too_large: 'change_request',
  not_implemented: 'change_request',
  http_version_not_supported: 'change_request',
  unauthorized: 'ask_support',
  insufficient_scope: 'ask_support',
  plan_not_eligible: 'ask_support',
  account_suspended: 'ask_support',
  insufficient_balance: 'ask_support',
  internal_error: 'ask_support',
} as const;

/** What to do about a session that failed, by the `code` of its error. */
export const retryOfFailure = {
  unsupported_media: 'change_request',
  no_audio_track: 'change_request',
  audio_too_long: 'change_request',
  too_many_channels: 'change_request',
  language_not_supported: 'change_request',
  audio_unreadable: 'change_request',
  insufficient_balance: 'ask_support',
  recognizer_error: 'ask_support',
  timed_out: 'ask_support',
  canceled: 'ask_support',
} as const;

export type ProblemCode = keyof typeof retryOfProblem;
export type Retry = (typeof retryOfProblem)[ProblemCode];
