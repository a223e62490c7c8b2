export { TranscriptionClient } from './client.ts';
export { NoAnswer, NotReadable, RequestFailed, SessionFailed } from './errors.ts';
export { persistently } from './persistence.ts';
export type { ClientOptions, UploadOptions, WaitOptions } from './client.ts';
export type { Asking } from './persistence.ts';
export type { Page, Problem, Schemas, Session, Transcript, UploadFields } from './types.ts';
export type { ProblemCode, Retry } from '../../codegen/retries.ts';
