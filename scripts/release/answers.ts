/** What a released version answered about its sessions, with which a later one is compared. */
import type { ReleasedService } from './released-service.ts';

interface Made {
  canceled: string;
  completed: string[];
  processing: string;
  queued: string;
}

export interface Answers {
  /** RFC 3339: when the data folder was made. */
  madeAt: string;
  accountId: string;
  /** Of a key with both scopes. It opens nothing but this data folder. */
  key: string;
  balance: unknown;
  /** As `GET /sessions/{id}` answered. */
  sessions: Record<string, unknown>[];
  /** As `GET /sessions/{id}/transcript` answered, of the sessions that were final. */
  transcripts: Record<string, unknown>[];
  /** Ids of the sessions that this version left to its successor: one that was never taken, and one that a killed worker held. */
  unfinished: string[];
}

export async function answersAbout(service: ReleasedService, made: Made): Promise<Answers> {
  const final = [made.canceled, ...made.completed];
  const unfinished = [made.processing, made.queued];
  const sessions: Record<string, unknown>[] = [];
  for (const id of [...final, ...unfinished]) sessions.push(await service.get(`/sessions/${id}`));
  const transcripts: Record<string, unknown>[] = [];
  for (const id of final) transcripts.push(await service.get(`/sessions/${id}/transcript?include=words`));
  return {
    madeAt: new Date().toISOString(),
    ...{ accountId: service.accountId, key: service.key },
    balance: await service.admin('balance', 'show', service.accountId),
    ...{ sessions, transcripts, unfinished },
  };
}
