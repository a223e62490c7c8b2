const unreserved = /^[\w.~-]$/;

/**
 * A request target whose path has letters, digits and `-._~` as they are: encoded they mean the same (RFC 3986, section
 * 6.2.2.2). Its query is left alone, since whoever reads it decodes it.
 */
export function withoutNeedlessEncoding(target: string): string {
  const end = target.indexOf('?');
  const path = end === -1 ? target : target.slice(0, end);
  if (!path.includes('%')) return target;
  const decoded = path.replaceAll(/%[0-9a-f]{2}/gi, (encoded) => {
    const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
    return unreserved.test(character) ? character : encoded;
  });
  return decoded + target.slice(path.length);
}
