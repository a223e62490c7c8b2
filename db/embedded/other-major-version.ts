/** PostgreSQL opens data of its own major version only. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from './run-program.ts';
import type { Binaries } from './binaries.ts';
import type { ClusterPaths } from './cluster.ts';

/** The data is of another major version than the programs. The message says what to type. */
export class OtherMajorVersion extends Error {
  override readonly name = 'OtherMajorVersion';

  constructor(folder: string, data: string, programs: string) {
    super(
      `The database in ${folder} is of PostgreSQL ${data}. This version of the service brings PostgreSQL ${programs}, which can ` +
        'not open it. Nothing was changed. Install the version of the service that served it before, and type there: ' +
        'npm run admin -- database run -- pg_dump --format=custom --file=transcription.dump. ' +
        'What follows is in scripts/deploy/OPERATIONS.md, "Another PostgreSQL".',
    );
  }
}

/** Asked when a server did not start. Undefined when that has another reason. */
export async function otherMajorVersion(
  { folder, data }: ClusterPaths,
  { postgres }: Binaries,
): Promise<OtherMajorVersion | undefined> {
  const ofData = (await readFile(join(data, 'PG_VERSION'), 'utf8').catch(() => '')).trim();
  const { output } = await runProgram([postgres, '--version']);
  const ofPrograms = / (\d+)[.\w]*$/.exec(output)?.[1];
  if (ofData === '' || ofPrograms === undefined || ofData === ofPrograms) return undefined;
  return new OtherMajorVersion(folder, ofData, ofPrograms);
}
