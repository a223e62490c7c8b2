/** What the uploads of one account cost the others. */
import { inAccountTransaction } from '../../db/account-transaction.ts';
import { openDatabase } from '../../db/database.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { lockWaits } from '../support/service/lock-waits.ts';
import { startTestService } from '../support/service/service.ts';
import { tone, traces } from '../support/uploads/uploads.ts';
import { until } from '../support/until.ts';
import type { TestService } from '../support/service/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

test('30 uploads wait for the lock of their account → one connection does, another account reads and uploads', async () => {
  const [busy, other] = [await makeAccount(service.db), await makeAccount(service.db)];
  const audio = await tone(100);
  const otherProcess = openDatabase(service.databaseUrl, () => {});
  try {
    const uploads = await inAccountTransaction(otherProcess.db, busy.id, async () => {
      const sent = Array.from({ length: 30 }, () =>
        service.post('/v1/transcriptions', busy.key).attach('file', audio, 'a.wav').expect(202).then(),
      );
      // Measured and stored: all that is left is the transaction.
      await until(async () => (await traces(service, busy)).stored.length === 30, 60_000);
      await service.get('/v1/sessions', other.key).expect(200);
      await service.post('/v1/transcriptions', other.key).attach('file', audio, 'a.wav').expect(202);
      expect(await lockWaits(otherProcess.db)).toHaveLength(1);
      return sent;
    });
    await Promise.all(uploads);
    expect(await traces(service, busy)).toMatchObject({ sessions: 30, jobs: 30, reservedMs: 3_000 });
  } finally {
    await otherProcess.close();
  }
});
