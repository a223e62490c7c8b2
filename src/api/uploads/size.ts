import { ApiError } from '../answers/problem.ts';
import { uploadForm } from './form.ts';

/** How many bytes a form may have beside its file: boundaries, a long file name, text fields. */
export const formOverheadBytes = 64 * 1024 + uploadForm.maxBytes;

/**
 * No plan or account has a larger limit. A repeated upload may be this large even if its account's limit was lowered.
 */
export const largestFileBytes = 2_147_483_647;

export const fileTooLarge = (limitBytes: number): ApiError =>
  new ApiError(413, 'file_too_large', `The file is larger than ${limitBytes} bytes.`, { limitBytes });
