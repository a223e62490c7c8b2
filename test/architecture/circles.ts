/** What imports what. */
export type Files = ReadonlyMap<string, { imports: { target: string }[] }>;

/** Circles of imports, also of types only, each as the paths around it. */
export function cyclesIn(files: Files): string[][] {
  const cycles: string[][] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: string[]): void => {
    if (trail.includes(path)) cycles.push([...trail.slice(trail.indexOf(path)), path]);
    if (done.has(path) || trail.includes(path)) return;
    for (const { target } of files.get(path)?.imports ?? []) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const path of files.keys()) visit(path, []);
  return cycles;
}
