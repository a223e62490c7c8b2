/** What most test files begin with: `const { get, db } = await useService()`. */
import { atEnd } from '../at-end.ts';
import { makeAccount } from './accounts.ts';
import { startTestService } from './service.ts';
import type { NewTestAccount, TestAccount } from './accounts.ts';
import type { TestService, TestServiceOptions } from './service.ts';

/** A service that stops after the file's tests. */
export async function useService(options: TestServiceOptions = {}): Promise<TestService> {
  const service = await startTestService(options);
  atEnd(service.stop);
  return service;
}

/** An account that all tests of the file share. */
export const useAccount = (service: Pick<TestService, 'db'>, options: NewTestAccount = {}): Promise<TestAccount> =>
  makeAccount(service.db, options);
