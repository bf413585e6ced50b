// Writes what follows from other files of the chart: the schema of its values, and the manifests for who has no Helm. With --check it
// only tells whether they are current.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { inNode24 } from './in-node-24.mjs';

await inNode24();
const { valuesSchema } = await import('./chart-schema.mjs');
const { findHelm } = await import('../tests/chart/helm.ts');

const charts = resolve(import.meta.dirname, '../charts');
const namespace = 'cronjob-monitor';

/** The installations that are written out, by the name of their file. */
const installations = {
  standalone: ['mode=standalone'],
  'split-postgres': ['mode=split', 'database.type=postgres'],
  'split-mysql': ['mode=split', 'database.type=mysql'],
};

const introduction = (
  name,
  values,
) => `# cronjob-monitor for who has no Helm: ${name}. Written by node scripts/chart-files.mjs from the chart with
# ${values.join(', ')}; change image, names and configuration as you need them. docs/install.md tells what to make first, and
# charts/cronjob-monitor/crds has the CustomResourceDefinitions.
---
apiVersion: v1
kind: Namespace
metadata:
  name: ${namespace}
`;

/** Labels that are Helm's own. */
const ofHelm = /^\s+(helm\.sh\/chart|app\.kubernetes\.io\/managed-by): .*\n/gm;

function manifests(helm, name, values) {
  const args = ['template', 'cronjob-monitor', join(charts, 'cronjob-monitor'), '--namespace', namespace];
  const rendered = execFileSync(
    helm,
    [...args, '--skip-tests', '--kube-version', '1.35.0', ...values.flatMap((value) => ['--set', value])],
    { encoding: 'utf8', maxBuffer: 2 ** 24 },
  );
  const plain = rendered
    .replaceAll(ofHelm, '')
    .replaceAll(/^# Source: .*\n/gm, '')
    .replaceAll(/[ \t]+$/gm, '');
  return introduction(name, values) + plain;
}

const files = new Map([['cronjob-monitor/values.schema.json', () => `${JSON.stringify(valuesSchema(), null, 1)}\n`]]);
const helm = await findHelm();
if ('skipped' in helm) console.error(`the manifests are left as they are: ${helm.skipped}`);
else
  for (const [name, values] of Object.entries(installations))
    files.set(`manifests/${name}.yaml`, () => manifests(helm.path, name, values));

for (const [path, textOf] of files) {
  const file = join(charts, path);
  const text = textOf();
  if (!process.argv.includes('--check')) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  } else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
    console.error(`charts/${path} is not what follows from the chart: run node scripts/chart-files.mjs`);
    process.exitCode = 1;
  }
}
