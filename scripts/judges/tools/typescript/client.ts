/** What the main job wants of a generated client. Adapters beside this file say it in the words of each generator. */
export interface Client {
  /** @throws {Refusal} like the others, when the service answers with a problem */
  upload(file: File, idempotencyKey: string, speakers?: number): Promise<{ sessionId: string }>;
  /** Five at most that are `completed` or `failed`: two values of one query parameter. */
  finalSessions(): Promise<{ items: unknown[] }>;
  session(id: string): Promise<{ status: string }>;
  /** With words. The answer is held for 30 s at most. */
  transcript(id: string): Promise<Transcript>;
  /** As WebVTT, by `format`; left out where the client takes every answer for JSON. */
  captions?(id: string): Promise<string>;
}

export interface Transcript {
  status: string;
  segments: { text: string; words?: unknown[] }[];
}

/** A problem that the client read as a typed error. */
export class Refusal extends Error {
  readonly code: string;

  constructor(problem: { code: string; detail?: string }) {
    super(problem.detail);
    this.code = problem.code;
  }
}

/** For clients that answer with either `data` or `error`. */
export function dataOf<Data>(answer: { data?: Data; error?: { code: string; detail?: string } }): Data {
  if (answer.error !== undefined) throw new Refusal(answer.error);
  return answer.data!;
}

/** For clients whose type of a transcript covers the captions too. */
export function notText<Data>(data: Data | string): Data {
  if (typeof data === 'string') throw new Error('text instead of JSON');
  return data;
}

/** The other half of that type. */
export function text(data: unknown): string {
  if (typeof data !== 'string') throw new Error('no text');
  return data;
}
