/** What most test files begin with. Both are filled before the first test: read them in tests and hooks only. */
import { atEnd } from '../at-end.ts';
import { makeAccount } from './accounts.ts';
import { startTestService } from './service.ts';
import type { NewTestAccount, TestAccount } from './accounts.ts';
import type { TestService, TestServiceOptions } from './service.ts';

/**
 * A service that starts before the file's tests and stops after them.
 *
 * @param options a function for what is known only when it starts
 */
export function useService(options: TestServiceOptions | (() => TestServiceOptions) = {}): TestService {
  const service = {} as TestService;
  beforeAll(async () => {
    Object.assign(service, await startTestService(typeof options === 'function' ? options() : options));
    atEnd(service.stop);
  });
  return service;
}

/** An account that all tests of the file share. */
export function useAccount(service: TestService, options: NewTestAccount = {}): TestAccount {
  const account = {} as TestAccount;
  beforeAll(async () => void Object.assign(account, await makeAccount(service.db, options)));
  return account;
}
