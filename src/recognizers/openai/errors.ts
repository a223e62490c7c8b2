/** What went wrong at a server, in words for the log and for whoever handles it. */
import { OperatorFault } from '../../ops/operator-fault.ts';
import { RecognizerError } from '../recognizer.ts';
import { isOfCertificate, reasonOf } from './reasons.ts';
import { Refusal } from './refusal.ts';
import type { SpeechServer } from './speech-server.ts';

const longestMessage = 500;

/** The server or its model can't answer in that format. */
export class FormatRefused extends RecognizerError {
  constructor(message: string) {
    super('recognizer_error', message, { retryable: false });
  }
}

export const answered = (server: SpeechServer, { message }: Refusal) =>
  toLine(`${new URL(server.baseUrl).host} answered ${message}`, server.apiKey);

export const cannotReach = (server: SpeechServer, reason: unknown) =>
  toLine(`${new URL(server.baseUrl).host} could not be reached: ${reasonOf(reason)}`, server.apiKey);

/** Whether the server refuses a request because of a field. @param field in what it says */
export const isRefusalOf = (error: unknown, field: RegExp): boolean =>
  error instanceof Refusal && [400, 422].includes(error.status) && field.test(`${error.param} ${error.message}`);

export function toRecognizerError(error: unknown, server: SpeechServer): RecognizerError {
  if (error instanceof RecognizerError) return error;
  const fail = (message: string, retryable = true) =>
    new RecognizerError('recognizer_error', toLine(message, server.apiKey), { retryable });
  const ofTheOperator = (message: string) => {
    const cause = new OperatorFault(message);
    return new RecognizerError('recognizer_error', message, { retryable: true, cause });
  };
  const { host } = new URL(server.baseUrl);
  if (isOfCertificate(error)) return ofTheOperator(cannotReach(server, error));
  if (error instanceof TypeError) return fail(cannotReach(server, error));
  if (!(error instanceof Refusal)) return fail(`asking ${host} failed: ${reasonOf(error)}`);

  const message = answered(server, error);
  if (isRefusalOf(error, /response_format|verbose_json|diarized_json|timestamp_gran/))
    return new FormatRefused(message);
  return error.isOperators ? ofTheOperator(message) : fail(message, error.isPassing);
}

/** A message for the log: one line, not too long, and without the key, which some servers repeat. */
function toLine(message: string, apiKey: string | undefined): string {
  const withoutKey = apiKey === undefined ? message : message.replaceAll(apiKey, '…');
  return withoutKey
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, longestMessage);
}
