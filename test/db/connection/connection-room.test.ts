import { lackOfConnections } from '../../../db/connection/connection-room.ts';
import { useDatabase } from '../../support/service/use-database.ts';

const { db } = await useDatabase();

test('room for what a process may open → nothing to tell; too little → how many there are, and what to do', async () => {
  expect(await lackOfConnections(db, 1)).toBeUndefined();
  expect(await lackOfConnections(db, 100_000)).toMatch(
    /^the database takes \d+ connections and has \d+; this process may open 100000: raise max_connections/,
  );
});
