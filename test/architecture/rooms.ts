/** The rooms of the house, and which of them each may import. `src/README.md` draws them. */

export interface Room {
  name: string;
  files: RegExp;
  /** Rooms that it may import, besides itself. */
  restsOn: string[];
  /** Said when the rule is broken. */
  sentence: string;
}

/** Configuration, context, log, metrics: what a process is made of. */
const base = 'src/*.ts';
const shared = ['db', base, 'tracing', 'sessions', 'search', 'queue', 'files', 'audio', 'captions', 'children'];

export const rooms: Room[] = [
  {
    name: 'codegen',
    files: /^codegen\//,
    restsOn: [],
    sentence: 'codegen/ knows the contract and nothing of the service',
  },
  { name: 'db', files: /^db\//, restsOn: [], sentence: 'db/ imports nothing of ours from outside' },
  {
    name: 'children',
    files: /^src\/children\//,
    restsOn: [base],
    sentence: 'children/ runs programs and does not know which',
  },
  { name: 'audio', files: /^src\/audio\//, restsOn: [base, 'children'], sentence: 'audio/ knows no row and no job' },
  {
    name: 'captions',
    files: /^src\/captions\//,
    restsOn: ['recognizers'],
    sentence: 'captions/ knows words and segments, and nothing of where they come from',
  },
  {
    name: 'recognizers',
    files: /^src\/recognizers\//,
    restsOn: [base, 'tracing', 'children', 'audio', 'captions'],
    sentence: 'recognizers/ turn audio into words and know no row and no job',
  },
  {
    name: 'tracing',
    files: /^src\/tracing\//,
    restsOn: [base],
    sentence: 'tracing/ knows spans and not what they are about',
  },
  {
    name: 'search',
    files: /^src\/search\//,
    restsOn: [base, 'db'],
    sentence: 'search/ turns texts and queries into what the index holds, and asks db/ for nothing but stems',
  },
  { name: 'files', files: /^src\/files\//, restsOn: [base, 'db'], sentence: 'files/ rests on db/' },
  {
    name: 's3',
    files: /^src\/s3\//,
    restsOn: [base, 'files'],
    sentence: 's3/ keeps files in an object store and knows no row',
  },
  { name: 'queue', files: /^src\/queue\//, restsOn: [base, 'db'], sentence: 'queue/ rests on db/' },
  {
    name: 'sessions',
    files: /^src\/sessions\//,
    restsOn: [base, 'db', 'queue', 'files', 'search', 'codegen'],
    sentence: 'sessions/ rests on queue/, files/ and db/, and knows neither the API nor the worker',
  },
  {
    name: 'audit',
    files: /^src\/audit\//,
    restsOn: [base, 'db', 'queue', 'files', 'search'],
    sentence: 'audit/ looks at rows, jobs and files, and not through the eyes of those who write them',
  },
  {
    name: 'process',
    files: /^src\/(start[^/]*|service|halves|foundation|ops|api\/server|processes\/.*)\.ts$/,
    restsOn: [...shared, 'api', 'worker', 'recognizers', 'app'],
    sentence: 'a process is put together from both halves',
  },
  {
    name: 'api',
    files: /^src\/api\//,
    restsOn: [...shared, 'codegen'],
    sentence: 'api/ and worker/ stand side by side and never touch; both rest on sessions/, queue/ and files/',
  },
  {
    name: 'worker',
    files: /^src\/worker\//,
    restsOn: [...shared, 'recognizers'],
    sentence: 'api/ and worker/ stand side by side and never touch; both rest on sessions/, queue/ and files/',
  },
  {
    name: 'handlers',
    files: /^handlers\//,
    restsOn: [...shared, 'codegen', 'api'],
    sentence: 'handlers/ are typed by the contract and know no worker',
  },
  {
    name: 'app',
    files: /^src\/app\.ts$/,
    restsOn: [base, 'codegen', 'handlers', 'api'],
    sentence: 'app.ts is the map of where a request goes',
  },
  {
    name: base,
    files: /^src\/(config\/)?[^/]+\.ts$/,
    restsOn: ['db', 'queue', 'files', 's3', 'children', 'recognizers', 'tracing'],
    sentence: 'what every room imports knows neither half',
  },
];

/** The first room that holds the path: `src/*.ts` is what is left of its folder. Undefined for scripts and packages. */
export const roomOf = (path: string): Room | undefined => rooms.find(({ files }) => files.test(path));
