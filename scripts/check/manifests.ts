/** Whether Kubernetes would take the manifests: kubernetes-validate (PyPI) knows its schemas, without a cluster. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const folders = ['scripts/deploy/kubernetes', 'scripts/deploy/kubernetes-object-store'];
// kustomize's own files and its patches of a list are no manifests.
const isManifest = (name: string) => name !== 'kustomization.yaml' && name !== 'own-disk.yaml';
const paths = folders.flatMap((folder) => readdirSync(folder).filter(isManifest).map((name) => join(folder, name))); // prettier-ignore
const { error, status, stdout, stderr } = spawnSync('kubernetes-validate', ['--strict', '--quiet', ...paths], {
  encoding: 'utf8',
});
if (error !== undefined) {
  console.log('not run: kubernetes-validate is not installed');
} else {
  process.stdout.write(`${stdout}${stderr}`);
  process.exitCode = status ?? 1;
}
