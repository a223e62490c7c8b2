import { Refusal } from '../terminal/refusal.ts';
import type { Schema } from '../../codegen/operations.ts';

const nextSteps: Record<string, string> = {
  unauthorized: 'Pass a valid key in TRANSCRIPTION_API_KEY, or issue one: npm run admin -- keys issue --help',
  insufficient_scope: 'Issue a key with both scopes: npm run admin -- keys issue ACCOUNT --scope read --scope write',
  insufficient_balance: 'Add to the balance: npm run admin -- balance credit ACCOUNT 10h',
  plan_not_eligible: 'Move the account to a plan with access: npm run admin -- accounts set-plan ACCOUNT pro',
  account_suspended: 'Resume the account: npm run admin -- accounts resume ACCOUNT',
};

/**
 * Turns a problem+json answer into a sentence with its code, what to do next, and the request id that support asks for.
 */
export function refusalOf(problem: unknown, response: Response): Refusal {
  if (!isProblem(problem)) return new Refusal(`${response.url} answered ${response.status} ${response.statusText}`);
  const fields = (problem.errors ?? []).map(({ name, message }) => `  ${name} ${message}`);
  const requestId = problem.requestId ?? response.headers.get('X-Request-Id');
  const lines = [
    `${problem.detail ?? problem.title} (${problem.code})`,
    ...fields,
    ...(nextSteps[problem.code] ? [nextSteps[problem.code]] : []),
    ...(requestId ? [`Request ${requestId}`] : []),
  ];
  return new Refusal(lines.join('\n'));
}

function isProblem(body: unknown): body is Schema<'Problem'> {
  return typeof body === 'object' && body !== null && 'code' in body && 'title' in body;
}
