/** PgBouncer in transaction mode, 1.21 or newer: that of the machine, or one that is built once from newer sources of Debian's. */
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Machine } from '../rig/machine.ts';
import { steadyPort } from '../rig/ports.ts';
import { ask } from '../rig/postgres.ts';
import { notRun } from '../rig/suite.ts';
import { atEnd } from '../support/at-end.ts';
import { useFolder } from '../support/use-folder.ts';

const execute = promisify(execFile);
const folder = join(import.meta.dirname, '../../.data/pgbouncer');
const built = join(folder, 'pgbouncer');

/**
 * In an empty folder, with the mirror of this machine. Apt's own lists stay as they are. Passwords are compared by PgBouncer
 * alone, and nothing is encrypted here.
 */
const build = String.raw`set -e
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -m1 '/debian/$')
  keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  mkdir -p lists/partial cache/archives/partial
  echo "deb-src [signed-by=$keyring] $mirror trixie main" >sources.list
  own() {
    apt-get -o Dir::Etc::SourceList="$PWD/sources.list" -o Dir::Etc::SourceParts=- -o Dir::State::Lists="$PWD/lists" \
      -o Dir::Cache="$PWD/cache" -o APT::Sandbox::User=root "$@"
  }
  own update
  own source --download-only pgbouncer
  tar -xzf pgbouncer_*.orig.tar.gz --strip-components=1
  ./configure --without-openssl --without-cares
  make -j"$(nproc)" pgbouncer`;

/** Ends the command of the suite where there is none, and none can be built. @returns where the program is */
export async function pgBouncer(): Promise<string> {
  for (const program of ['pgbouncer', built]) if (await isNewEnough(program)) return program;
  // Its build does not bear a space in the path of the project.
  const sources = await mkdtemp(join(tmpdir(), 'pgbouncer-'));
  try {
    await execute('sh', ['-c', build], { cwd: sources, timeout: 5 * 60_000, maxBuffer: 64 * 2 ** 20 });
    await mkdir(folder, { recursive: true });
    await execute('mv', [join(sources, 'pgbouncer'), built]);
    return built;
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string };
    const why = stderr.trim().split('\n').at(-1) || String(error);
    return notRun(`PgBouncer 1.21 or newer is not here, and was not built: ${why}`);
  } finally {
    await rm(sources, { recursive: true, force: true });
  }
}

async function isNewEnough(program: string): Promise<boolean> {
  const { stdout } = await execute(program, ['--version']).catch(() => ({ stdout: '' }));
  const [, major, minor] = /^PgBouncer (\d+)\.(\d+)/.exec(stdout) ?? [];
  return Number(major) > 1 || Number(minor) >= 21;
}

/**
 * As the command of the suite found it, until the test file ends.
 * @param databaseUrl of a database of the server behind it
 * @param more settings, which come last
 */
export async function startPgBouncer(databaseUrl: string, more = '') {
  const { hostname, port: serverPort, username, password } = new URL(databaseUrl);
  const port = await steadyPort();
  const settings = `[databases]
* = host=${hostname} port=${serverPort} user=${username} password=${decodeURIComponent(password)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
max_prepared_statements = 200
max_client_conn = 1000
${more}
`;
  const own = useFolder();
  await chmod(own, 0o755);
  const file = join(own, 'pgbouncer.ini');
  await writeFile(file, settings, { mode: 0o644 });
  const url = Object.assign(new URL(databaseUrl), { port: String(port) }).href;
  // It refuses to run as root.
  const asNobody = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups', '--'];
  const machine = new Machine('PgBouncer', {
    command: [...(process.getuid?.() === 0 ? asNobody : []), process.env.PGBOUNCER!, '-q', file],
    ...{ env: {}, folder: own, isUp: async () => (await ask(url, 'select 1', true)).length > 0 },
  });
  await machine.start();
  atEnd(() => machine.kill());
  return { machine, url };
}
