/** A registry of npm packages on loopback, as far as `npm pack` asks one. */
import { createHash } from 'node:crypto';
import { serve } from '../serve.ts';

export interface NpmRegistry {
  /** For `npm_config_registry`. */
  url: string;
  /** Archives by `name@version`. */
  packages: Record<string, Buffer>;
  /** Paths that were asked for. */
  requests: string[];
}

export async function startNpmRegistry(): Promise<NpmRegistry> {
  const { url } = await serve((request, response) => {
    const path = decodeURIComponent(request.url!).slice(1);
    npm.requests.push(path);
    const archive = npm.packages[path];
    if (archive !== undefined) return void response.end(archive);
    const description = describe(npm, path);
    response.writeHead(description === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(description ?? { error: 'Not found' }));
  });
  const npm: NpmRegistry = { url, packages: {}, requests: [] };
  return npm;
}

function describe({ url, packages }: NpmRegistry, name: string): object | undefined {
  const own = Object.entries(packages).filter(([id]) => id.startsWith(`${name}@`));
  if (own.length === 0) return undefined;
  const versions = own.map(([id, archive]) => {
    const version = id.slice(name.length + 1);
    const integrity = `sha512-${createHash('sha512').update(archive).digest('base64')}`;
    return [version, { name, version, dist: { tarball: `${url}/${encodeURIComponent(id)}`, integrity } }];
  });
  return { name, 'dist-tags': { latest: versions[0]![0] }, versions: Object.fromEntries(versions) };
}
