import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCommand } from '../testing/console.ts';

const files = `
apiVersion: cronjob-monitor.io/v1alpha1
kind: CronJobMonitor
metadata: {name: backups, namespace: prod}
spec:
  selector: {matchLabels: {tier: backup}}
  missedSchedule: {enabled: false}
  stuckJobs: {enabled: false}
  alerting:
    channelRefs: [{name: team-chat, severities: [warning]}]
    severityOverrides: {jobFailed: critical}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly, namespace: prod, labels: {tier: backup}}
spec: {schedule: "30 2 * * *", timeZone: Europe/Berlin}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: paused, namespace: prod, labels: {tier: backup}}
spec: {schedule: "@daily", suspend: true}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: web, namespace: prod, labels: {tier: web}}
spec: {schedule: "@daily"}
`;

test('without a service it tells what is selected, when it is due, and who would hear of what', async () => {
  const { status, out } = await runCommand(['preview', '-'], { input: files });
  assert.equal(status, 1);
  assert.match(out, /^CronJobMonitor prod\/backups selects 2 CronJobs of the files\n/);
  assert.match(out, /prod\/nightly {2}30 2 \* \* \* {2}next 2026-11-22 01:30Z, 2026-11-23 01:30Z, 2026-11-24 01:30Z\n/);
  assert.match(out, /prod\/paused {2}@daily {2}suspended\n/);
  assert.match(out, /jobFailed, critical: no channel is told: no channel takes this severity\n/);
  assert.match(out, /SeverityNotRouted/);
  assert.doesNotMatch(out, /missedSchedule,|jobStuck,|prod\/web/);
});

test('programs get the same as JSON', async () => {
  const { out } = await runCommand(['preview', '-', '--format=json'], { input: files });
  const { monitors } = JSON.parse(out) as { monitors: { told: object[]; cronJobs: { name: string }[] }[] };
  assert.deepEqual(
    monitors[0]?.cronJobs.map(({ name }) => name),
    ['prod/nightly', 'prod/paused'],
  );
  assert.deepEqual(monitors[0]?.told, [
    { type: 'jobFailed', severity: 'critical', channels: [], reason: 'severityNotRouted' },
  ]);
});

test('a monitor with fallback is given what the other monitors of the files leave', async () => {
  const rest = `
---
apiVersion: cronjob-monitor.io/v1alpha1
kind: CronJobMonitor
metadata: {name: default, namespace: ops}
spec: {selector: {allNamespaces: true, fallback: true}}
`;
  const { out } = await runCommand(['preview', '-'], { input: files + rest });
  assert.match(out, /CronJobMonitor ops\/default selects 1 CronJob of the files\n {2}prod\/web /);
});

test('days and limits need stored runs', async () => {
  const { status, error } = await runCommand(['preview', '-', '--days', '3'], { input: files });
  assert.equal(status, 2);
  assert.match(error, /give --server URL/);
  assert.match((await runCommand(['preview', 'a', '--days', '31', '--server', 'http://x'])).error, /from 1 to 30/);
});
