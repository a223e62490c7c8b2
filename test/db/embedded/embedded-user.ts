import { joinEmbeddedPostgres } from '../../../db/embedded/embedded-postgres.ts';

// A process of its own for the tests: joins, prints the URL, and leaves when its standard input ends.
const [, , folder = '', stay = 'stay'] = process.argv;
const postgres = await joinEmbeddedPostgres({ folder });
console.log(postgres.url);
if (stay === 'stay') {
  process.stdin.resume();
  process.stdin.on('end', () => void postgres.leave());
}
