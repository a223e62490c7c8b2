import type { Selectable } from 'kysely';
import type { SessionTable } from '../schema.ts';

/** What the owner of a session may see of its row. */
export const publicColumns = [
  'id',
  'status',
  'title',
  'reference',
  'created_at',
  'started_at',
  'completed_at',
  'duration_ms',
  'charged_ms',
  'language',
  'progress',
  'error_code',
  'known_languages',
  'transcript_version',
  'delete_at',
  'separate_channels',
  'warnings',
] as const satisfies (keyof SessionTable)[];

/** A session as its owner may see it. */
export type PublicSession = Pick<Selectable<SessionTable>, (typeof publicColumns)[number]>;
