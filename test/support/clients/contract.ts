import { violations } from '../../../src/api/contract/checker.ts';
import type { SeenAnswer } from '../../../src/api/contract/checker.ts';

/** @throws an error that lists every violation */
export function assertConforms(answer: SeenAnswer): void {
  const faults = violations(answer);
  if (faults.length === 0) return;
  const what = `${answer.method} ${answer.path} → ${answer.status}`;
  throw new Error(
    `${what} breaks the contract:\n${faults.map((fault) => `  - ${fault}`).join('\n')}\n${answer.text.slice(0, 500)}`,
  );
}
