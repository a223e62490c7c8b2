/** Whether Kubernetes would take the manifests: kubernetes-validate (PyPI) knows its schemas, without a cluster. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const folder = 'scripts/deploy/kubernetes';
// kustomize's own file is no manifest.
const manifests = readdirSync(folder).filter((name) => name !== 'kustomization.yaml');
const paths = manifests.map((name) => join(folder, name));
const { error, status, stdout, stderr } = spawnSync('kubernetes-validate', ['--strict', '--quiet', ...paths], {
  encoding: 'utf8',
});
if (error !== undefined) {
  console.log('not run: kubernetes-validate is not installed');
} else {
  process.stdout.write(`${stdout}${stderr}`);
  process.exitCode = status ?? 1;
}
