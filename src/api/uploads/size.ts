import { ApiError } from '../answers/problem.ts';

/** What a form may weigh beside its file: field names, boundaries, `durationMs`. */
export const formOverheadBytes = 64 * 1024;

export const fileTooLarge = (limitBytes: number): ApiError =>
  new ApiError(413, 'file_too_large', `The file is larger than ${limitBytes} bytes.`, { limitBytes });
