/** A cable to the database that breaks at a chosen moment of the transaction which creates a session. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

export type Break = 'at the insert' | 'before COMMIT' | 'after COMMIT';

export interface CommitRelay {
  /** The database's URL through the relay. */
  url: string;
  /** Breaks the next such transaction. */
  breakNext(when: Break): void;
  close(): void;
}

export async function startCommitRelay(databaseUrl: string): Promise<CommitRelay> {
  const target = new URL(databaseUrl);
  let next: Break | undefined;
  const open = new Set<() => void>();

  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    let insertsSession = false;
    let committed = false;
    const cut = () => {
      near.destroy();
      far.destroy();
    };
    const cutNow = () => {
      next = undefined;
      cut();
    };
    open.add(cut);
    near.on('data', (chunk) => {
      const text = chunk.toString('latin1');
      insertsSession ||= text.includes('insert into "sessions"');
      if (insertsSession && next === 'at the insert') return cutNow();
      if (insertsSession && /^Q[^]{4}commit\0/i.test(text)) {
        if (next === 'before COMMIT') return cutNow();
        committed = true;
      }
      far.write(chunk);
    });
    far.on('data', (chunk) => {
      if (committed && next === 'after COMMIT') return cutNow();
      if (committed) [insertsSession, committed] = [false, false];
      near.write(chunk);
    });
    for (const socket of [near, far]) socket.on('error', cut).on('close', cut);
    near.on('close', () => open.delete(cut));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    breakNext: (when) => void (next = when),
    close() {
      server.close();
      for (const cut of open) cut();
    },
  };
}
