import { Problem } from './refusals.ts';
import type { Schema } from '../../codegen/operations.ts';

const admin = 'npm run admin --';
const nextSteps: Record<string, string> = {
  unauthorized: `Pass a valid key in TRANSCRIPTION_API_KEY, or issue one: ${admin} keys issue --help`,
  insufficient_scope: `Issue a key with both scopes: ${admin} keys issue ACCOUNT --scope read --scope write`,
  insufficient_balance: `Add to the balance: ${admin} balance credit ACCOUNT 10h`,
  plan_not_eligible: `Move the account to a plan with access: ${admin} accounts set-plan ACCOUNT pro`,
  account_suspended: `Resume the account: ${admin} accounts resume ACCOUNT`,
};

/**
 * Turns a problem+json answer into a sentence with its code, what to do next, and the request id that support asks for.
 */
export function problemOf(body: unknown, response: Response): Problem {
  const { status } = response;
  if (!isProblem(body)) return new Problem(`${response.url} answered ${status} ${response.statusText}`, status);
  const said = body.detail ?? body.title;
  const fields = (body.errors ?? []).filter(({ message }) => !said.includes(message));
  const requestId = body.requestId ?? response.headers.get('X-Request-Id');
  const lines = [
    `${said} (${body.code})`,
    ...fields.map(({ name, message }) => `  ${name} ${message}`),
    ...(nextSteps[body.code] ? [nextSteps[body.code]] : []),
    ...(requestId ? [`Request ${requestId}`] : []),
  ];
  return new Problem(lines.join('\n'), status, body.code);
}

function isProblem(body: unknown): body is Schema<'Problem'> {
  return typeof body === 'object' && body !== null && 'code' in body && 'title' in body;
}
