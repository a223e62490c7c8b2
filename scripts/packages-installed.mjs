// Exits with 0 when node_modules holds what package-lock.json asks for. JavaScript, since it runs before anything is
// installed, on a Node.js that may not know TypeScript.
import { readFileSync } from 'node:fs';

const packagesOf = (file) => JSON.parse(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')).packages;

function isInstalled() {
  const wanted = packagesOf('package-lock.json');
  const installed = packagesOf('node_modules/.package-lock.json');
  const left = Object.keys(installed).some((path) => wanted[path] === undefined);
  const lacking = Object.entries(wanted).some(([path, { version, optional }]) => {
    if (path === '' || (optional && installed[path] === undefined)) return false;
    return installed[path]?.version !== version;
  });
  return !left && !lacking;
}

try {
  process.exitCode = isInstalled() ? 0 : 1;
} catch {
  process.exitCode = 1;
}
