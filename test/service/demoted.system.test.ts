/** A failover: connections stay open to a server that takes no writes, while new ones lead to the primary. */
import { openDatabase } from '../../db/connection/database.ts';
import { ask, startPostgres, startStandbyOf } from '../rig/postgres.ts';
import { startRelay } from '../support/faults/relay.ts';
import { sessionIn } from '../support/clients/client.ts';
import { expectSound } from '../support/service/audit.ts';
import { until } from '../support/until.ts';
import { startWhole } from './whole-service.ts';
import type { OwnPostgres } from '../rig/postgres.ts';
import type { Seen } from '../support/clients/client.ts';
import type { Relay } from '../support/faults/relay.ts';

/** Connections of the service that are still open to a server. */
const connectionsTo = async (url: string) => {
  const of = `select count(*)::int from pg_stat_activity where application_name like 'transcription%'`;
  return (await ask(url, `${of} and pid <> pg_backend_pid()`))[0]!.count;
};

type Failover = (
  relay: Relay,
  first: OwnPostgres,
  standby: OwnPostgres,
  upload: () => Promise<Seen>,
) => Promise<{ primary: string; other: string }>;

/** Resolves when the standby has everything that the primary wrote. */
async function caughtUp(first: OwnPostgres, standby: OwnPostgres): Promise<void> {
  const written = async () => (await ask(first.url, 'select pg_current_wal_lsn()::text as lsn'))[0]!.lsn;
  const replayed = async () => (await ask(standby.url, 'select pg_last_wal_replay_lsn()::text as lsn'))[0]!.lsn;
  await until(
    async () => [await written(), await replayed()],
    ([there, here]) => there === here,
  );
}

/** The primary takes no writes any more, and the standby takes its place. */
const switchOver: Failover = async (relay, first, standby) => {
  await ask(first.url, 'alter system set default_transaction_read_only = on');
  await ask(first.url, 'select pg_reload_conf()');
  await caughtUp(first, standby);
  await ask(standby.url, 'select pg_promote()');
  relay.leadTo(standby.url);
  return { primary: standby.url, other: first.url };
};

/** A balancer takes the standby for the primary, until the service has asked there. */
const strayToStandby: Failover = async (relay, first, standby, upload) => {
  relay.cut();
  relay.leadTo(standby.url);
  await relay.mend();
  expect(await upload()).toMatchObject({ status: 503, code: 'unavailable' });
  relay.leadTo(first.url);
  return { primary: first.url, other: standby.url };
};

test.each([
  ['PostgreSQL was demoted, its standby promoted', switchOver],
  ['new connections led to a standby for a while', strayToStandby],
])(
  '%s → no connection stays there, what was accepted is kept, and everything goes on without a restart',
  async (_, failOver) => {
    const first = await startPostgres();
    const standby = await startStandbyOf(first);
    const relay = await startRelay(first.url);
    const whole = await startWhole({ url: first.url, env: { DATABASE_URL: relay.url } });
    const { service, client, file, dataDir, go } = whole;
    await whole.close();
    const accepted = [await client.accepted(file), await client.accepted(file)];
    await Promise.all(accepted.map((id) => client.get(`/v1/sessions/${id}`)));

    const { primary, other } = await failOver(relay, first, standby, () => client.upload(file));

    const again = await until(
      () => client.upload(file),
      ({ status }) => status === 202,
    );
    accepted.push(sessionIn(again));
    go();
    for (const id of accepted) expect(await client.final(id)).toMatchObject({ status: 'completed' });
    await until(
      () => connectionsTo(other),
      (count) => count === 0,
    );
    const { db, close } = openDatabase(primary, () => {});
    await expectSound({ db, dataDir }).finally(close);
    expect(await service.stop()).toBe(0);
  },
);
