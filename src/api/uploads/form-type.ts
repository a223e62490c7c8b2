/** The media type of an upload, read once: what is admitted by it is what the form is cut by. */
import { MIMEType } from 'node:util';

/** Any length is taken, but only the characters of RFC 2046, section 5.1.1. */
const boundaryPattern = /^[\w'()+,\-./:=? ]*[\w'()+,\-./:=?]$/;

/** @returns undefined where it is another type; `boundary` is undefined where it has none that can be used */
export function formTypeOf(contentType = ''): { boundary: string | undefined } | undefined {
  const type = parsed(contentType);
  if (type?.essence !== 'multipart/form-data') return undefined;
  const boundary = type.params.get('boundary');
  return { boundary: boundary !== null && boundaryPattern.test(boundary) ? boundary : undefined };
}

/** The one form in which readers of forms get it: they disagree on others. @param boundary as above */
export const plainFormType = (boundary: string): string => `multipart/form-data; boundary="${boundary}"`;

function parsed(contentType: string): MIMEType | undefined {
  try {
    return new MIMEType(contentType);
  } catch {
    return undefined;
  }
}
