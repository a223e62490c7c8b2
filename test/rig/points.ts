/** Moments in the life of an upload and of a job, as they can be seen between a process and its database. */

/** What passes on one connection. */
export interface Passing {
  /** The SQL that the process sends now. */
  sql: string | undefined;
  /** What the server says now that it has done. */
  done: string | undefined;
  /** Every statement before it since the transaction began, or since the last one ended. */
  before: readonly string[];
}

export interface Point {
  name: string;
  isHere(passing: Passing): boolean;
  /** Lets the message go its way, instead of holding it back for ever. */
  passes?: true;
}

const isInsertOf = (table: string) => (sql: string | undefined) => sql?.startsWith(`insert into "${table}"`) ?? false;
const createsSession = isInsertOf('sessions');
const storesTranscript = isInsertOf('transcripts');
const marksAudio = (sql: string | undefined) => sql?.startsWith('update "sessions" set "audio_deleted_at"') ?? false;
const claims = (sql: string | undefined) => sql?.includes('"attempt" = "attempt" +') ?? false;

type Statement = (sql: string | undefined) => boolean;

const beforeStatement = (name: string, isStatement: Statement): Point => ({
  name,
  isHere: ({ sql }) => isStatement(sql),
});
const beforeCommit = (isOfIt: Statement): Point => ({
  name: 'before COMMIT',
  isHere: ({ sql, before }) => sql === 'commit' && before.some(isOfIt),
});
const afterCommit = (isOfIt: Statement): Point => ({
  name: 'after COMMIT',
  isHere: ({ done, before }) => done === 'COMMIT' && before.some(isOfIt),
});

/** The upload is on disk; its session is not committed. */
export const received: Point[] = [
  beforeStatement('before the row', createsSession),
  beforeStatement('before the job', (sql) => sql?.includes('pgboss.job') ?? false),
  beforeCommit(createsSession),
];

/** The session is committed; whoever made it does not know. */
export const committed = afterCommit(createsSession);

/** The words are there; the transcript is not committed. */
export const recognized: Point[] = [
  beforeStatement('before the transcript', storesTranscript),
  beforeCommit(storesTranscript),
];

/** The transcript is committed; whoever stored it does not know. */
export const stored = afterCommit(storesTranscript);

/** The worker knows that the session is completed; its audio is still there. */
export const completed: Point[] = [
  { ...stored, name: 'as it is answered', passes: true },
  beforeStatement('before the mark', marksAudio),
  { name: 'after the mark', isHere: ({ done, before }) => done !== undefined && marksAudio(before.at(-1)) },
];

/** The queue has given the job away; the session knows nothing of it. */
export const taken = beforeStatement('before the claim', claims);
