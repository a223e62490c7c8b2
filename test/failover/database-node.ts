/** One of three machines of a PostgreSQL that replaces itself: etcd, Patroni, and the server that Patroni starts. */
import { chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { postgresSystemUser } from '../../db/embedded/system-user.ts';
import { Machine } from '../rig/machine.ts';
import { subnet } from '../rig/network.ts';
import type { Place } from '../rig/place.ts';

/** Where Debian has PostgreSQL 15. */
export const binaries = '/usr/lib/postgresql/15/bin';
export const [superuser, password] = ['transcription', 'password-of-tests'];

export interface DatabaseNode {
  machine: Machine;
  /** What Patroni says that it is: `primary` (`master` in version 3), `replica`, or nothing while it is away. */
  role(): Promise<string | undefined>;
  /** Whether what it commits is on another machine, too. Throws while it does not know. */
  hasSynchronousStandby(): Promise<boolean>;
}

/** @param peers all three, this one included */
export async function databaseNode(place: Place, peers: readonly Place[], folder: string): Promise<DatabaseNode> {
  const { uid, gid } = await postgresSystemUser();
  const own = join(folder, place.name);
  await mkdir(own, { recursive: true });
  await chown(own, uid, gid);
  const settings = join(own, 'patroni.json');
  await writeFile(settings, JSON.stringify(patroniSettings(place, peers, own), null, 2));
  const say = async (what: string): Promise<unknown> => {
    const answer = await fetch(`http://${place.address}:8008/${what}`, { signal: AbortSignal.timeout(1_000) });
    return answer.json();
  };
  const state = async () => (await say('patroni')) as { state: string; role: string };
  // etcd writes to a file, so that whoever waits for the end of Patroni's output does not wait for etcd.
  const both = `etcd ${etcdArguments(place, peers, own).join(' ')} >>${own}/etcd.log 2>&1 &
    exec setpriv --reuid ${uid} --regid ${gid} --clear-groups -- patroni ${settings}`;
  const machine = new Machine(place, {
    ...{ command: ['sh', '-c', both], env: {}, folder: own },
    isUp: async () => ['running', 'streaming'].includes((await state()).state),
  });
  return {
    machine,
    role: () => state().then(({ role }) => role, () => undefined), // prettier-ignore
    async hasSynchronousStandby() {
      const { members } = (await say('cluster')) as { members: { role: string }[] };
      return members.some(({ role }) => role === 'sync_standby');
    },
  };
}

function etcdArguments({ name, address }: Place, peers: readonly Place[], folder: string): string[] {
  const cluster = peers.map((peer) => `${peer.name}=http://${peer.address}:2380`).join(',');
  return [
    ...['--name', name, '--data-dir', join(folder, 'etcd'), '--initial-cluster', cluster],
    ...['--listen-peer-urls', `http://${address}:2380`, '--initial-advertise-peer-urls', `http://${address}:2380`],
    ...['--listen-client-urls', `http://${address}:2379`, '--advertise-client-urls', `http://${address}:2379`],
  ];
}

/** Patroni reads YAML, of which JSON is a part. */
function patroniSettings({ name, address }: Place, peers: readonly Place[], folder: string): object {
  const accounts = { username: superuser, password };
  return {
    ...{ scope: 'transcription', name },
    restapi: { listen: `${address}:8008`, connect_address: `${address}:8008` },
    etcd3: { hosts: peers.map((peer) => `${peer.address}:2379`) },
    bootstrap: {
      dcs: {
        // A primary that is gone is missed after 20 s at the latest.
        ...{ ttl: 20, loop_wait: 3, retry_timeout: 5 },
        // What was answered 202 is on two machines.
        synchronous_mode: true,
        postgresql: { use_pg_rewind: true, use_slots: true, parameters: { max_connections: 200 } },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C' }],
    },
    postgresql: {
      ...{ listen: `${address}:5432`, connect_address: `${address}:5432` },
      ...{ data_dir: join(folder, 'data'), bin_dir: binaries, pgpass: join(folder, 'pgpass') },
      authentication: { superuser: accounts, replication: { username: 'standby', password }, rewind: accounts },
      pg_hba: [`host replication standby ${subnet} scram-sha-256`, `host all all ${subnet} scram-sha-256`],
      parameters: { unix_socket_directories: folder, timezone: 'UTC' },
    },
  };
}
