/** Which words of two texts are the same ones. */

const [step, skipSaid, skipHeard] = [0, 1, 2];

/**
 * Lays one text over the other with as few errors as possible.
 * @returns places of the same word in both, in order
 */
export function wordsInCommon(said: readonly string[], heard: readonly string[]): [number, number][] {
  const width = heard.length + 1;
  const ways = new Uint8Array((said.length + 1) * width);
  let above = Int32Array.from({ length: width }, (_, column) => column);
  ways.fill(skipHeard, 0, width);
  for (let line = 1; line <= said.length; line += 1) {
    const row = new Int32Array(width);
    row[0] = line;
    ways[line * width] = skipSaid;
    for (let column = 1; column < width; column += 1) {
      const costs = [
        above[column - 1]! + (said[line - 1] === heard[column - 1] ? 0 : 1),
        above[column]! + 1,
        row[column - 1]! + 1,
      ];
      row[column] = Math.min(...costs);
      ways[line * width + column] = costs.indexOf(row[column]!);
    }
    above = row;
  }
  const common: [number, number][] = [];
  for (let [line, column] = [said.length, heard.length]; line > 0 || column > 0;) {
    const way = ways[line * width + column];
    if (way !== skipHeard) line -= 1;
    if (way !== skipSaid) column -= 1;
    if (way === step && said[line] === heard[column]) common.push([line, column]);
  }
  return common.reverse();
}
