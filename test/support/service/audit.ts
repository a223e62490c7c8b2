/** The auditor's rules, for tests: everything that holds at every moment, whatever happened. */
import { audit } from '../../../src/audit/audit.ts';
import { AudioStore } from '../../../src/files/audio-store.ts';
import { WorkFolder } from '../../../src/files/work-folder.ts';
import { until } from '../until.ts';
import type { Db } from '../../../db/database.ts';

/** No file may be left over, however young it is. */
const noGrace = { sweptWithinMs: -Infinity, removedWithinMs: 0 };

/** Fails the test that left a rule broken. Files are removed after the rows that make them superfluous, so they get 5 s. */
export async function expectSound({ db, dataDir }: { db: Db; dataDir: string }): Promise<void> {
  const audited = { db, audioStore: new AudioStore(dataDir), workFolder: new WorkFolder(dataDir) };
  const broken = async () => {
    const { checks } = await audit(audited, () => {}, noGrace);
    return checks.filter(({ breaches }) => breaches > 0);
  };
  await until(broken, (rules) => rules.length === 0);
}
