import { joinEmbeddedPostgres } from '../../../db/embedded/embedded-postgres.ts';

// A process of its own for the tests: joins, prints the URL, and leaves when its standard input ends.
const postgres = await joinEmbeddedPostgres({ folder: process.argv[2]! });
console.log(postgres.url);
process.stdin.resume();
process.stdin.on('end', () => void postgres.leave());
