import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { parse } from 'yaml';
import { patchOf } from './patch.ts';

const ref = { namespace: 'data', name: 'backups' };
const inForce = {
  selector: { matchLabels: { tier: 'backup' } },
  deadManSwitch: { enabled: true, maxTimeSinceLastSuccess: '25h' },
  sla: { minSuccessRate: 95, maxDuration: '25m' },
};

test('the diff holds the lines that change, the YAML the whole resource', () => {
  const wished = { ...inForce, sla: { minSuccessRate: 95, maxDuration: '1h50m' } };
  const { diff, yaml } = patchOf(ref, inForce, wished);
  assert.deepEqual(
    diff.split('\n').filter((line) => /^[+-]/.test(line)),
    ['-    maxDuration: 25m', '+    maxDuration: 1h50m'],
  );
  assert.match(diff, /^@@ -\d+,\d+ \+\d+,\d+ @@\n/);
  assert.deepEqual(parse(yaml), {
    apiVersion: 'cronjob-monitor.io/v1alpha1',
    kind: 'CronJobMonitor',
    metadata: ref,
    spec: wished,
  });
});

test('the command is a merge patch of what differs alone: what is taken away is null', () => {
  const wished = {
    selector: inForce.selector,
    deadManSwitch: { enabled: true, autoFromSchedule: { enabled: true, buffer: '1h' } },
    sla: inForce.sla,
  };
  const { command } = patchOf(ref, inForce, wished);
  const [, json] = /^kubectl -n data patch cronjobmonitor backups --type merge -p '(.*)'$/.exec(command) ?? [];
  assert.deepEqual(JSON.parse(json ?? ''), {
    spec: {
      deadManSwitch: { maxTimeSinceLastSuccess: null, autoFromSchedule: { enabled: true, buffer: '1h' } },
    },
  });
});

test('a text of strangers stays one word of the shell', () => {
  const { command } = patchOf(ref, inForce, { ...inForce, dependsOn: ["'; touch /tmp/x; echo $(id) '"] });
  const said = execFileSync('sh', ['-c', command.replace(/^kubectl .* -p /, 'printf %s ')]).toString();
  assert.deepEqual(JSON.parse(said), { spec: { dependsOn: ["'; touch /tmp/x; echo $(id) '"] } });
});

test('without a change there is neither diff nor command', () => {
  const { diff, command } = patchOf(ref, inForce, structuredClone(inForce));
  assert.deepEqual([diff, command], ['', '']);
});
