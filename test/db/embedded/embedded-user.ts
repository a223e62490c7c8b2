import { joinEmbeddedPostgres } from '../../../db/embedded/embedded-postgres.ts';

// A process of its own for the tests: joins, prints the URL, and leaves at SIGTERM.
const postgres = await joinEmbeddedPostgres({ folder: process.argv[2]! });
console.log(postgres.url);
const staying = setInterval(() => {}, 60_000);
process.once('SIGTERM', () => {
  clearInterval(staying);
  void postgres.leave();
});
