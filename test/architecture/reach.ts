import type { SourceFile } from './source-files.ts';

export type Files = ReadonlyMap<string, SourceFile>;

/** The file and everything that it imports, and what that imports. */
export function reachOf(files: Files, entry: string, reached = new Set<string>()): Set<string> {
  if (reached.has(entry) || !files.has(entry)) return reached;
  reached.add(entry);
  for (const { target } of files.get(entry)!.imports) reachOf(files, target, reached);
  return reached;
}

/** Circles of imports that exist at run time, each as the paths around it. */
export function cyclesIn(files: Files): string[][] {
  const cycles: string[][] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: string[]): void => {
    if (trail.includes(path)) cycles.push([...trail.slice(trail.indexOf(path)), path]);
    if (done.has(path) || trail.includes(path)) return;
    const ahead = files.get(path)?.imports.filter(({ typeOnly }) => !typeOnly) ?? [];
    for (const { target } of ahead) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const path of files.keys()) visit(path, []);
  return cycles;
}
