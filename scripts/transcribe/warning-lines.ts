import type { Schema } from '../../codegen/operations.ts';

const mostPlaces = 5;

/** What a person is told of a recording: a line for each kind of warning, with the first places in the recording. */
export function warningLines(warnings: readonly Schema<'Warning'>[]): string[] {
  const kinds = Map.groupBy(warnings, ({ code }) => code);
  return [...kinds.values()].map((ofKind) => {
    const places = ofKind.flatMap(placeOf);
    const more = places.length > mostPlaces ? `, and ${places.length - mostPlaces} more` : '';
    const where = places.length > 0 ? ` (${places.slice(0, mostPlaces).join(', ')}${more})` : '';
    return `${ofKind[0]!.message}${where}`;
  });
}

const placeOf = ({ startMs, endMs }: Schema<'Warning'>): string[] =>
  startMs === undefined || endMs === undefined ? [] : [`${clock(startMs)} to ${clock(endMs)}`];

/** `h:mm:ss` */
function clock(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const two = (value: number) => String(value % 60).padStart(2, '0');
  return `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60))}:${two(seconds)}`;
}
