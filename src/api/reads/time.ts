/** Times of the API: RFC 3339 in, PostgreSQL's microseconds inside. */

const rfc3339 = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:)(\d{2})(?:\.(\d+))?([Zz]|[+-]\d{2}:\d{2})$/;

/**
 * The first microsecond at or after an RFC 3339 time, as PostgreSQL reads it. Rounding up keeps both `created_at >= t` and
 * `created_at < t` true to a finer `t`. Times beyond PostgreSQL's calendar become `-infinity` and `infinity`.
 *
 * @returns undefined when the text is not an RFC 3339 time
 */
export function toMicroseconds(text: string): string | undefined {
  const [, date, hourAndMinute, second, fraction = '', zone] = rfc3339.exec(text) ?? [];
  if (date === undefined) return undefined;
  // Every clock here shows a leap second (RFC 3339, section 5.7) as the first moment of the next minute.
  const leap = second === '60';
  const seconds =
    Date.parse(`${date}T${hourAndMinute}${leap ? '59' : second}${zone!.toUpperCase()}`) / 1000 + (leap ? 1 : 0);
  if (Number.isNaN(seconds)) return undefined;
  const micros = leap ? 0 : Number(fraction.slice(0, 6).padEnd(6, '0')) + (/[1-9]/.test(fraction.slice(6)) ? 1 : 0);
  const whole = new Date((seconds + (micros === 1e6 ? 1 : 0)) * 1000);
  if (whole.getUTCFullYear() < 1) return '-infinity';
  if (whole.getUTCFullYear() > 9999) return 'infinity';
  return `${whole.toISOString().slice(0, 19)}.${String(micros % 1e6).padStart(6, '0')}Z`;
}
