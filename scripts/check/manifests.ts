/** Whether Kubernetes would take the manifests: kubernetes-validate (PyPI) knows its schemas, without a cluster. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The oldest and the newest that the pages promise, and one between them. */
const versions = ['1.27', '1.32', '1.37'];
const folders = ['scripts/deploy/kubernetes', 'scripts/deploy/kubernetes-object-store'];
// kustomize's own files and its patches of a list are no manifests, and the operator's kinds are not Kubernetes' own.
const others = ['kustomization.yaml', 'own-disk.yaml', 'pod-monitor.yaml'];
const manifestsOf = (folder: string) => readdirSync(folder).filter((name) => !others.includes(name));
const paths = folders.flatMap((folder) => manifestsOf(folder).map((name) => join(folder, name)));

for (const version of versions) {
  const args = ['--kubernetes-version', version, '--strict', '--quiet', ...paths];
  const { error, status, stdout, stderr } = spawnSync('kubernetes-validate', args, { encoding: 'utf8' });
  if (error !== undefined) {
    console.log('not run: kubernetes-validate is not installed');
    break;
  }
  process.stdout.write(`${stdout}${stderr}`);
  if (status !== 0) process.exitCode = 1;
}
