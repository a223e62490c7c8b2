import type { components } from '../../codegen/api.ts';

export type Schemas = components['schemas'];
export type Problem = Schemas['Problem'];
export type Session = Schemas['Session'];
export type Transcript = Schemas['Transcript'];
export type Page = Schemas['SessionPage'];
/** What an upload may say besides the file. */
export type UploadFields = Omit<Schemas['TranscriptionRequest'], 'file'>;
