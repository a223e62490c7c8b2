import type { ColumnType } from 'kysely';

/** What support did: the command without its arguments. */
export type SupportAct =
  | `accounts ${'create' | 'set-plan' | 'set-limits' | 'set-retention' | 'suspend' | 'resume' | 'delete'}`
  | `balance ${'credit' | 'correct'}`
  | `keys ${'issue' | 'rotate' | 'revoke'}`
  | 'plans set'
  | `sessions ${'retry' | 'cancel' | 'delete' | 'export'}`
  | `database ${'migrate' | 'run'}`
  | 'store adopt'
  | 'move'
  | 'backup'
  | 'restore';

export interface SupportLogTable {
  /** From 1, without gaps. */
  number: number;
  at: ColumnType<string, string | undefined, never>;
  who: string;
  act: SupportAct;
  account_id: string | null;
  /** JSON: ids, numbers and names of plans. */
  details: ColumnType<string, string, never>;
}
