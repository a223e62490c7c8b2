import { Refusal } from '../terminal/refusal.ts';

/** Nothing answered, or something that is not this service. */
export class Unreachable extends Refusal {}

/** The service answered a problem. */
export class Problem extends Refusal {
  readonly status: number;
  /** What the contract lists as `code`; undefined when what answered was not the service, such as a proxy. */
  readonly code: string | undefined;

  constructor(message: string, status: number, code?: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** The service could not transcribe the recording. Nothing was charged. */
export class SessionFailed extends Refusal {}

/** The file is not the one any more that was meant to be sent. */
export class RecordingChanged extends Refusal {}

/** The upload was accepted, and its transcript was not waited for: by an interruption, or the `cause`. */
export class Unfinished extends Refusal {
  readonly sessionId: string;

  constructor(sessionId: string, cause?: Refusal) {
    super(cause?.message ?? 'Interrupted', { cause });
    this.sessionId = sessionId;
  }
}

/** Interrupted while the recording was sent. */
export class NotSent extends Refusal {
  constructor(isWhole: boolean) {
    super(
      isWhole
        ? 'Interrupted when the whole recording was sent and the answer was not there yet: it may have been accepted.'
        : 'Interrupted: the recording was not sent to its end, and nothing is charged.',
    );
  }
}
