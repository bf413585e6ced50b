import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, test } from 'node:test';
import { acceptedKeys, loadConfig, rowOf, type AcceptedKey, type EntryPoint } from '@cronjob-monitor/shared/config';
import { findHelm } from './helm.ts';
import { render, runHelm, theOne } from './render.ts';
import { refusedValues, valueSets } from './value-sets.ts';

const helm = await findHelm();
const skip = 'skipped' in helm && helm.skipped;
const path = 'path' in helm ? helm.path : ''; // else the suite is skipped
const root = resolve(import.meta.dirname, '../..');

/** Keys with a default that follow from other values. */
const ownValues: ReadonlySet<AcceptedKey> = new Set([
  'storage.type',
  'storage.sqlite.path',
  'storage.postgres.port',
  'storage.postgres.ssl-mode',
  'storage.mysql.port',
  'storage.mysql.ssl-mode',
  'metrics.cert-name',
  'metrics.cert-key',
]);

/** Keys at their defaults, nested at their dots; those without a default are left out. */
function nested(keys: readonly AcceptedKey[]): object {
  const root: Record<string, unknown> = {};
  for (const key of keys) {
    const { default: fallback, kind } = rowOf(key);
    if (fallback === null) continue;
    const parts = key.split('.');
    const name = parts.pop() ?? '';
    let at = root;
    for (const part of parts) at = (at[part] ??= {}) as Record<string, unknown>; // Blocks and keys never share a name.
    at[name] = asYaml(kind.name, fallback);
  }
  return root;
}

function asYaml(kind: string, text: string): unknown {
  if (kind === 'list') return text.split(',').filter((item) => item !== '');
  if (kind === 'int') return Number(text);
  return kind === 'bool' ? text === 'true' : text;
}

describe('the chart', { skip }, () => {
  for (const [title, values] of Object.entries(valueSets)) {
    test(`is linted and rendered: ${title}`, () => {
      const linted = runHelm(path, 'lint', values);
      assert.equal(linted.status, 0, linted.output + linted.errors);
      assert.doesNotMatch(linted.output, /\[(WARNING|ERROR)\]/);
      assert.ok(render(path, values).length >= 8);
    });
  }

  test('has no metrics port when metrics are off, whether the zero is a text or a number', () => {
    for (const zero of ['0', 0]) {
      const objects = render(path, { config: { metrics: { 'bind-address': zero } } });
      assert.doesNotMatch(JSON.stringify(objects), /"name":"metrics"|8443/, typeof zero);
    }
  });

  for (const [title, values, says] of refusedValues) {
    test(`refuses ${title}, and says what to change`, () => {
      const { status, errors } = runHelm(path, 'template', values);
      assert.notEqual(status, 0);
      for (const words of says) assert.ok(errors.includes(words), errors);
    });
  }

  test('makes a monitor of all that no other selects, which tells the channels given, with the spec merged over it', () => {
    const monitorOf = (values: object) => theOne(render(path, values), 'CronJobMonitor', 'default')['spec'];
    const selector = { allNamespaces: true, fallback: true };
    const deadManSwitch = { autoFromSchedule: {} };
    assert.deepEqual(monitorOf({}), { selector, deadManSwitch });
    const spec = { jobFailed: { failureThreshold: 2 }, selector: { matchLabels: { tier: 'gold' } } };
    assert.deepEqual(monitorOf({ defaultMonitor: { channels: ['team-chat'], spec } }), {
      selector: { ...selector, ...spec.selector },
      deadManSwitch,
      jobFailed: spec.jobFailed,
      alerting: { channelRefs: [{ name: 'team-chat' }] },
    });
    const off = render(path, { defaultMonitor: { enabled: false } });
    assert.deepEqual(
      off.filter(({ kind }) => kind === 'CronJobMonitor'),
      [],
    );
    const watched = render(path, { config: { cluster: { 'watch-namespaces': ['team-a', 'team-b'] } } });
    assert.deepEqual(
      watched
        .filter(({ kind }) => kind === 'CronJobMonitor')
        .map(({ metadata, spec }) => [metadata.namespace, spec.selector]),
      [
        ['team-a', { fallback: true }],
        ['team-b', { fallback: true }],
      ],
    );
  });

  test('takes every key of the configuration at its default', () => {
    const config = nested(acceptedKeys.filter((key) => !ownValues.has(key)));
    const { status, errors } = runHelm(path, 'template', { config });
    assert.equal(status, 0, errors);
  });

  for (const key of ownValues) {
    test(`refuses ${key}, for which it has a value of its own`, () => {
      const { status, errors } = runHelm(path, 'template', { config: nested([key]) });
      assert.notEqual(status, 0);
      assert.match(errors, /value must be 'left out: /);
    });
  }
});

describe('the configuration that the chart renders', { skip }, () => {
  for (const [title, values] of Object.entries(valueSets)) {
    test(`starts each process it is for: ${title}`, () => {
      const objects = render(path, values);
      const folder = mkdtempSync(join(tmpdir(), 'cronjob-monitor-rendered-'));
      try {
        const file = join(folder, 'config.yaml');
        const config = objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name.endsWith('-config'));
        writeFileSync(file, config?.['data']['config.yaml']);
        const pods = objects
          .filter(({ kind }) => kind === 'Deployment')
          .map((one) => one['spec'].template.spec.containers[0]);
        assert.ok(pods.length > 0);
        for (const { name, env } of pods) {
          const { problems, machineProblems, loaded } = loadConfig({
            entryPoint: name as EntryPoint,
            argv: [`--config=${file}`],
            // As in a pod; what comes from a Secret is some text.
            environment: {
              KUBERNETES_SERVICE_HOST: '10.0.0.1',
              KUBERNETES_SERVICE_PORT: '443',
              ...Object.fromEntries(
                (env ?? []).map((one: { name: string; value?: string }) => [
                  one.name,
                  one.value ?? 'https://x.example',
                ]),
              ),
            },
          });
          // Files that only the pod has are missing here.
          assert.deepEqual(
            problems.filter((line) => !machineProblems.includes(line)),
            [],
          );
          assert.ok(loaded, name);
        }
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    });
  }

  test('lets in what the ingress and the route lead to', () => {
    const config = theOne(render(path, valueSets['split with everything'] ?? {}), 'ConfigMap', 'monitor-config');
    for (const host of ['elsewhere.example.org', 'cronjobs.example.org', 'jobs.example.org'])
      assert.match(config['data']['config.yaml'], new RegExp(`- ${host.replaceAll('.', '\\.')}`));
  });
});

test('the schema of the values and the plain manifests are what follows from the chart', { skip }, () => {
  const args = ['scripts/chart-files.mjs', '--check'];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
});
