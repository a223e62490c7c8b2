/** CONTRIBUTING.md's walk-throughs: diffs whose hunks need no line numbers, because each is found once in its file. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
export const document = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');

/** @returns the files that the walk-throughs change, as they are afterwards */
export function walkThrough(): Map<string, string> {
  const files = new Map<string, string>();
  for (const [, block = ''] of document.matchAll(/^ {3}```diff\n(.*?)^ {3}```$/gms)) {
    for (const part of block.replace(/^ {3}/gm, '').split(/^--- /m).slice(1)) {
      const [file = '', ...lines] = part.split('\n').slice(0, -1);
      for (const hunk of lines.join('\n').split('\n@@\n')) files.set(file, applied(file, files.get(file), hunk));
    }
  }
  return files;
}

function applied(file: string, changed: string | undefined, hunk: string): string {
  const side = (other: string) => {
    const lines = hunk.split('\n').filter((line) => !line.startsWith(other));
    return lines.map((line) => line.slice(1)).join('\n');
  };
  const [before, after] = [side('+'), side('-')];
  const path = join(root, file);
  if (before === '' && !existsSync(path)) return `${after}\n`;
  const parts = (changed ?? readFileSync(path, 'utf8')).split(before);
  if (parts.length !== 2) throw new Error(`${file} holds this ${parts.length - 1} times: ${before}`);
  return parts.join(after);
}
