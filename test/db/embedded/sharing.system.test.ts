import { joinEmbeddedPostgres } from '../../../db/embedded/embedded-postgres.ts';
import { cleanUp, newFolder, newFolderWithCluster, processesIn, query, startUser } from './postgres-folder.ts';

afterEach(cleanUp);

test('first start → a cluster that answers; a second process → the same server; the last one to leave stops it', async () => {
  const folder = newFolder();
  const first = startUser(folder);
  const url = await first.url;
  expect(await query(url, 'SELECT current_database() AS database')).toEqual([{ database: 'transcription' }]);
  const second = startUser(folder);
  expect(await second.url).toBe(url);

  await first.leave();
  expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await second.leave();
  expect(processesIn(folder)).toEqual([]);
  await expect(query(url, 'SELECT 1')).rejects.toThrow('ECONNREFUSED');
});

test('two processes start at once in an empty place → one server', async () => {
  const folder = newFolder();
  const users = [startUser(folder), startUser(folder), startUser(folder)];
  const urls = await Promise.all(users.map((user) => user.url));
  expect(new Set(urls).size).toBe(1);
  await Promise.all(users.map((user) => user.leave()));
  expect(processesIn(folder)).toEqual([]);
});

test('some leave while others join → whoever joined has a server', async () => {
  const folder = await newFolderWithCluster();
  const comeAndGo = async (): Promise<void> => {
    for (let round = 0; round < 3; round++) {
      const postgres = await joinEmbeddedPostgres({ folder });
      expect(await query(postgres.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
      await postgres.leave();
    }
  };
  await Promise.all([comeAndGo(), comeAndGo(), comeAndGo()]);
  expect(processesIn(folder)).toEqual([]);
});

test('two joins in one process → each counts, and leaving twice counts once', async () => {
  const folder = await newFolderWithCluster();
  const first = await joinEmbeddedPostgres({ folder });
  const second = await joinEmbeddedPostgres({ folder });
  await Promise.all([first.leave(), first.leave()]);
  await first.leave();
  expect(await query(second.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await second.leave();
  expect(processesIn(folder)).toEqual([]);
});
