import { sql } from 'kysely';
import type { TestService } from './service.ts';

/** Windows of the allowance begin with the minute: what must happen within one happens again when the minute turned meanwhile. */
export const withinAMinute = (service: Pick<TestService, 'db'>, work: () => Promise<void>) => async () => {
  for (;;) {
    const began = await minuteOf(service);
    const outcome = await work().then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    if ((await minuteOf(service)) !== began) continue;
    if (outcome !== undefined) throw outcome.error;
    return;
  }
};

/** By the database's clock. */
async function minuteOf({ db }: Pick<TestService, 'db'>): Promise<number> {
  const { rows } = await sql<{ m: number }>`select floor(extract(epoch from clock_timestamp()) / 60)::int as m`.execute(
    db,
  );
  return rows[0]!.m;
}
