/** The rooms of the house, from the ground up, and which of them each may import. `src/README.md` draws them. */

export interface Room {
  name: string;
  files: RegExp;
  /** Rooms that it may import, besides itself. */
  restsOn: string[];
  /** Said when the rule is broken. */
  sentence: string;
}

/** What most rooms may use. It knows nothing of what the service does. */
const ground = ['concurrency', 'languages', 'config', 'ops'];
const shared = [...ground, 'db', 'tracing', 'sessions', 'search', 'queue', 'files', 'audio', 'captions', 'children'];

const folder = (name: string, restsOn: string[], sentence: string): Room => ({
  name,
  files: new RegExp(`^(src/)?${name}/`),
  restsOn,
  sentence,
});

export const rooms: Room[] = [
  folder('codegen', [], 'codegen/ knows the contract and nothing of the service'),
  folder('db', [], 'db/ imports nothing of ours from outside'),
  folder('concurrency', [], 'concurrency/ is imported by every room and imports none'),
  folder('languages', [], 'languages/ is imported by every room and imports none'),
  folder('ops', ['concurrency', 'db'], 'ops/ shows what operators ask for and knows neither role'),
  folder('children', ['ops'], 'children/ runs programs and does not know which'),
  folder('audio', ['ops', 'children'], 'audio/ knows no row and no job'),
  folder('captions', [], 'captions/ knows words and segments, and nothing of where they come from'),
  folder('tracing', ['concurrency', 'ops'], 'tracing/ knows spans and not what they are about'),
  folder(
    'recognizers',
    ['concurrency', 'languages', 'ops', 'tracing', 'children', 'audio', 'captions'],
    'recognizers/ turn audio into words and know no row and no job',
  ),
  folder('config', ['languages', 'recognizers'], 'config/ reads the environment and knows neither role'),
  folder(
    'search',
    ['concurrency', 'languages', 'db'],
    'search/ turns texts and queries into what the index holds, and asks db/ for nothing but stems',
  ),
  folder('files', [...ground, 'db'], 'files/ rests on db/'),
  folder('queue', ['ops', 'db'], 'queue/ rests on db/'),
  folder(
    'sessions',
    [...ground, 'db', 'queue', 'files', 'search', 'tracing', 'codegen'],
    'sessions/ rests on queue/, files/ and db/, and knows neither the API nor the worker',
  ),
  folder(
    'audit',
    ['db', 'queue', 'files', 'search'],
    'audit/ looks at rows, jobs and files, and not through the eyes of those who write them',
  ),
  folder(
    'api',
    [...shared, 'codegen'],
    'api/ and worker/ stand side by side and never touch; both rest on sessions/, queue/ and files/',
  ),
  folder(
    'worker',
    [...shared, 'recognizers'],
    'api/ and worker/ stand side by side and never touch; both rest on sessions/, queue/ and files/',
  ),
  folder('handlers', [...shared, 'codegen', 'api'], 'handlers/ are typed by the contract and know no worker'),
  {
    name: 'app',
    files: /^src\/app\.ts$/,
    restsOn: ['handlers', 'api', 'tracing'],
    sentence: 'app.ts is the map of where a request goes',
  },
  folder('process', [...shared, 'api', 'worker', 'recognizers', 'app'], 'a process is put together from both roles'),
  {
    name: 'start',
    files: /^src\/start[^/]*\.ts$/,
    restsOn: ['process'],
    sentence: 'only app.ts and what is started stand outside of the rooms',
  },
];

/** The room that holds the path. Undefined for scripts and packages. */
export const roomOf = (path: string): Room | undefined => rooms.find(({ files }) => files.test(path));
