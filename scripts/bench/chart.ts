/** A run as an SVG: one bar for each measure against its goal. */
import { goalText, judge, readable, spreadOf } from './statistics.ts';
import type { Check, Run } from './bench.ts';

const width = 1320;
const [labelWidth, barWidth, rowHeight, top] = [600, 360, 30, 56];
/** Where the goal's line stands, as a part of the width for bars. */
const goalAt = 0.6;
const colours = { met: '#2b7a4b', missed: '#b3372f', told: '#5b6b7f' };

/**
 * Every bar has a scale of its own, on which the goal is always at the same place. A ratio without a goal is drawn as
 * if 1 were its goal; a figure with a unit and without a goal has no bar. Bars that would leave the picture end at its
 * edge.
 */
export function chartOf({ name, date, size, checks }: Run): string {
  const height = top + checks.length * rowHeight + 24;
  const goalX = labelWidth + barWidth * goalAt;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="13">
<rect width="${width}" height="${height}" fill="#fff"/>
<text x="12" y="24" font-size="17" font-weight="bold">${escape(name)} (${size}, ${escape(date.slice(0, 10))})</text>
<text x="${goalX}" y="44" text-anchor="middle" fill="#333">goal</text>
${checks.map((check, index) => barOf(check, top + index * rowHeight)).join('\n')}
<line x1="${goalX}" x2="${goalX}" y1="${top - 6}" y2="${height - 18}" stroke="#111" stroke-dasharray="4 3"/>
</svg>
`;
}

function barOf(check: Check, y: number): string {
  const { median, min, max } = spreadOf(check.values);
  const { goal, unit } = check;
  const bound = goal === undefined ? 1 : 'atLeast' in goal ? goal.atLeast : goal.atMost;
  // A value of at most 0 has no length. A value above 0 whose goal is 0 has the greatest.
  const length = (value: number) => (value <= 0 ? 0 : Math.min(barWidth, (value / bound) * goalAt * barWidth));
  const x = (value: number) => labelWidth + length(value);
  const verdict = judge(check);
  const colour = verdict === undefined ? colours.told : verdict.met ? colours.met : colours.missed;
  const figure = `${readable(median)}${unit === undefined ? '' : ` ${unit}`}`;
  const note = [figure, goalText(goal), verdict?.met === false ? verdict.text : ''].filter((text) => text !== '');
  const bar = `<rect x="${labelWidth}" y="${y + 3}" width="${length(median).toFixed(1)}" height="17" fill="${colour}"/>
<line x1="${x(min).toFixed(1)}" x2="${x(max).toFixed(1)}" y1="${y + 11.5}" y2="${y + 11.5}" stroke="#111" stroke-width="2"/>`;
  return `<text x="12" y="${y + 16}">${escape(`${check.work}: ${check.measure}`)}</text>
${goal === undefined && unit !== undefined ? '' : bar}
<text x="${labelWidth + barWidth + 10}" y="${y + 16}" fill="${colour}">${escape(note.join('; '))}</text>`;
}

const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
