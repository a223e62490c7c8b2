/** Durations as people type and read them: `10h`, `1h30m`, `90d`, `-2h 30m`, `1.5s`, `250ms`. */

const dayMs = 86_400_000;
const maxDurationMs = 36_525 * dayMs;
// U+2212 is what texts use for a minus.
const shape =
  /^([+\u2212-])?(?:(\d{1,6})d)? ?(?:(\d{1,9})h)? ?(?:(\d{1,9})m(?!s))? ?(?:(\d{1,12}(?:\.\d{1,3})?)s)? ?(?:(\d{1,15})ms)?$/;
const unitsMs = [dayMs, 3_600_000, 60_000, 1_000, 1];

/** What to type, for messages. */
export const durationExamples = 'a number with d, h, m, s or ms, such as 10h, 90m, 1h30m or 90d, up to 100 years';

/** A duration in ms, with its sign. Undefined when the text is no duration, is zero, or is longer than 100 years. */
export function parseDuration(text: string): number | undefined {
  const match = shape.exec(text.trim());
  if (match === null) return undefined;
  const [, sign, ...amounts] = match;
  const ms = Math.round(unitsMs.reduce((sum, unit, index) => sum + Number(amounts[index] ?? 0) * unit, 0));
  if (ms === 0 || ms > maxDurationMs) return undefined;
  return sign === undefined || sign === '+' ? ms : -ms;
}

/**
 * A duration for people, which {@link parseDuration} accepts again: `10h 30m 5s`, `-2h`, `1.234s`, `0s`. Hours never
 * become days.
 */
export function formatDuration(ms: number): string {
  const rest = Math.abs(ms);
  const parts = [
    [Math.floor(rest / 3_600_000), 'h'],
    [Math.floor(rest / 60_000) % 60, 'm'],
    [(rest % 60_000) / 1000, 's'],
  ] as const;
  const shown = parts.filter(([amount]) => amount > 0).map(([amount, unit]) => `${amount}${unit}`);
  return shown.length === 0 ? '0s' : `${ms < 0 ? '-' : ''}${shown.join(' ')}`;
}

/**
 * Moves an argument such as `-2h` behind `--`, so that it is not taken for an option. The value of an option stays
 * where it is. Every option but `--json`, `--csv`, `--all` and `--clear` has a value.
 */
export function negativeDurationsLast(argv: readonly string[]): string[] {
  if (argv.includes('--')) return [...argv];
  const isValue = (index: number) => /^--(?!json$|csv$|all$|clear$)[^=]+$/.test(argv[index - 1] ?? '');
  const isNegative = (text: string, index: number) => /^-\d/.test(text) && !isValue(index);
  const negative = argv.filter(isNegative);
  if (negative.length === 0) return [...argv];
  return [...argv.filter((text, index) => !isNegative(text, index)), '--', ...negative];
}
