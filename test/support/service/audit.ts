/** The auditor's rules, for tests: everything that holds at every moment, whatever happened. */
import { audit } from '../../../src/audit/audit.ts';
import { FileAudioStore } from '../../../src/files/file-audio-store.ts';
import { Spool } from '../../../src/files/spool.ts';
import { WorkFolder } from '../../../src/files/work-folder.ts';
import { until } from '../until.ts';
import type { Db } from '../../../db/connection/database.ts';

/** No file may be left over, however young it is. */
const noGrace = { sweptWithinMs: -Infinity, removedWithinMs: 0 };

/** The files that the auditor looks at. */
export const auditedFiles = (dataDir: string) => ({
  audioStore: new FileAudioStore(dataDir),
  spool: new Spool(dataDir),
  workFolder: new WorkFolder(dataDir),
});

/** Fails the test that left a rule broken. Files are removed after the rows that make them superfluous, so they get 5 s. */
export async function expectSound({ db, dataDir }: { db: Db; dataDir: string }): Promise<void> {
  const broken = async () => {
    const { checks } = await audit({ db, ...auditedFiles(dataDir) }, { grace: noGrace });
    return checks.filter(({ breaches }) => breaches > 0);
  };
  await until(broken, (rules) => rules.length === 0);
}
