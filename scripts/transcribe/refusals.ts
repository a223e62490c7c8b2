/** What may come instead of a transcript, and its message. */
import { NoAnswer, NotReadable, RequestFailed, SessionFailed } from '../client/index.ts';
import { Refusal } from '../terminal/refusal.ts';

/** The upload was accepted, and its transcript was not waited for: by an interruption, or the `cause`. */
export class Unfinished extends Refusal {
  readonly sessionId: string;

  constructor(sessionId: string, cause?: Error) {
    super(cause === undefined ? 'Interrupted' : explained(cause), { cause });
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

/** Whether the service, the network or the file is why. */
export const isOutside = (error: unknown): error is RequestFailed | NoAnswer | NotReadable =>
  error instanceof RequestFailed || error instanceof NoAnswer || error instanceof NotReadable;

/** In sentences for a person; a fault of this command with its stack. */
export function explained(error: Error): string {
  if (error instanceof RequestFailed) return explainedRefusal(error);
  if (error instanceof NoAnswer) return explainedSilence(error.cause as Error);
  if (error instanceof SessionFailed)
    return `${error.message} (${error.code})\nSession ${error.sessionId}. Nothing was charged.`;
  if (error instanceof NotReadable) return `${error.message} Nothing was charged.`;
  return error instanceof Refusal ? error.message : (error.stack ?? error.message);
}

const admin = 'npm run admin --';
const nextSteps: Record<string, string> = {
  unauthorized: `Pass a valid key in TRANSCRIPTION_API_KEY, or issue one: ${admin} keys issue --help`,
  insufficient_scope: `Issue a key with both scopes: ${admin} keys issue ACCOUNT --scope read --scope write`,
  insufficient_balance: `Add to the balance: ${admin} balance credit ACCOUNT 10h`,
  plan_not_eligible: `Move the account to a plan with access: ${admin} accounts set-plan ACCOUNT pro`,
  account_suspended: `Resume the account: ${admin} accounts resume ACCOUNT`,
};

/** What was wrong with its code, what to do next, and the request id that support asks for. */
function explainedRefusal({ message, problem }: RequestFailed): string {
  if (problem === undefined) return message;
  const { code, errors = [], requestId } = problem;
  return [
    `${message} (${code})`,
    ...errors.filter((field) => !message.includes(field.message)).map((field) => `  ${field.name} ${field.message}`),
    ...(nextSteps[code] ? [nextSteps[code]] : []),
    ...(requestId ? [`Request ${requestId}`] : []),
  ].join('\n');
}

/** `fetch` rejects with a TypeError when the connection fails, and JSON.parse with a SyntaxError. */
function explainedSilence(why: Error): string {
  if (why instanceof SyntaxError) return 'What answers there is not this service. Check --url.';
  const { code, message } = (why.cause ?? why) as NodeJS.ErrnoException;
  const hint = code === 'ECONNREFUSED' ? '. Is the service running? Start it: npm start' : '';
  return `No connection to the service (${code ?? message})${hint}`;
}
