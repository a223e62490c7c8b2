/** What runs here. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };

export interface Build {
  version: string;
  /** Empty where nobody knows: an image or an archive holds no Git. */
  commit: string;
  node: string;
}

export const build: Build = {
  version: packageJson.version,
  commit: checkedOut(join(import.meta.dirname, '../../.git')) ?? '',
  node: process.versions.node,
};

/** @param git a clone's own folder */
export function checkedOut(git: string): string | undefined {
  const head = textOf(join(git, 'HEAD'));
  const branch = /^ref: (.+)$/.exec(head)?.[1];
  if (branch === undefined) return commitIn(head);
  const packed = textOf(join(git, 'packed-refs')).split('\n');
  return commitIn(textOf(join(git, branch))) ?? commitIn(packed.find((line) => line.endsWith(` ${branch}`)) ?? '');
}

function commitIn(text: string): string | undefined {
  return /^[0-9a-f]{40,64}\b/.exec(text)?.[0];
}

/** Empty where it can't be read. Nobody needs it to transcribe. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return '';
  }
}
