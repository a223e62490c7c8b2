/** Lines of CSV (RFC 4180: fields with commas, quotes or line breaks stand in quotes, lines end in CRLF). */

/**
 * A text that begins like this is a formula to a spreadsheet, which may run it (OWASP, "CSV Injection"). Spreadsheets also
 * take the full-width signs, and skip spaces.
 */
const formula = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/;

/** Texts that look like formulas get an apostrophe in front, which spreadsheets take for the mark of a text. */
export function csvLine(fields: readonly (string | number | null)[]): string {
  return `${fields.map(fieldOf).join(',')}\r\n`;
}

function fieldOf(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = formula.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
