import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { aTemporaryFolder } from '@cronjob-monitor/shared/testing';
import { runCommand } from '../testing/console.ts';

const lint = (input: string, ...flags: string[]) => runCommand(['lint', '-', ...flags], { input });

const monitor = (spec: string, name = 'backups') => `
apiVersion: cronjob-monitor.io/v1alpha1
kind: CronJobMonitor
metadata: {name: ${name}, namespace: prod}
spec: ${spec}
`;

const cronJob = (name: string, schedule: string) => `
apiVersion: batch/v1
kind: CronJob
metadata: {name: ${name}, namespace: prod, labels: {tier: backup}}
spec:
  schedule: "${schedule}"
  timeZone: Etc/UTC
  jobTemplate: {spec: {activeDeadlineSeconds: 600, backoffLimit: 0, template: {spec: {restartPolicy: Never}}}}
`;

test('a sound monitor leaves nothing to say', async () => {
  const said = await lint(monitor('{}'));
  assert.deepEqual(said, { status: 0, out: '1 object, nothing to say\n', error: '' });
});

test('a field that cannot be used is told with its document, its path and what is allowed', async () => {
  const { status, out } = await lint(`${monitor('{}', 'well')}---${monitor('{sla: {windowDays: 0}}')}`);
  assert.equal(status, 1);
  assert.equal(
    out,
    `standard input: document 2: CronJobMonitor prod/backups
  error    spec.sla.windowDays: must be a whole number from 1 to 365, is 0
2 objects: 1 error, 0 warnings, 0 notes
`,
  );
});

test('a field that does not exist is told with the one that was meant', async () => {
  const { status, out } = await lint(monitor('{deadManSwich: {enabled: true}}'));
  assert.equal(status, 1);
  assert.match(out, /error {4}spec\.deadManSwich: is no field, and is dropped; did you mean deadManSwitch\?/);
});

test('an expression that the engine does not know is told', async () => {
  const pattern = '{name: a, match: {logPattern: "(?=x)"}, suggestion: b}';
  const { out } = await lint(monitor(`{alerting: {channelRefs: [{name: c}], suggestedFixPatterns: [${pattern}]}}`));
  assert.match(out, /error {4}spec\.alerting\.suggestedFixPatterns\[0\]\.match\.logPattern: /);
});

test('CronJobs of the files are judged by the monitors that select them', async () => {
  const spec = '{selector: {matchLabels: {tier: backup}}, deadManSwitch: {maxTimeSinceLastSuccess: 20h}}';
  const { status, out } = await lint([monitor(spec), cronJob('nightly', '30 2 * * *')].join('---'));
  assert.equal(status, 1);
  assert.match(
    out,
    /warning {2}spec\.deadManSwitch\.maxTimeSinceLastSuccess: prod\/nightly: .* \(DeadManShorterThanPeriod\)/,
  );
});

test('a selector that takes none of the CronJobs beside it is told, and is not where there are none', async () => {
  const spec = '{selector: {matchLabels: {tier: web}}}';
  const beside = await lint([monitor(spec), cronJob('nightly', '30 2 * * *')].join('---'));
  assert.match(beside.out, /SelectorEmpty/);
  assert.equal((await lint(monitor(spec))).status, 0);
});

test('channels of the files are the ones that may be named; without any, every name may stand', async () => {
  const spec = '{alerting: {channelRefs: [{name: team-chat}]}}';
  const channel = `
apiVersion: cronjob-monitor.io/v1alpha1
kind: AlertChannel
metadata: {name: other}
spec: {type: chat, chat: {webhookSecretRef: {name: a, namespace: b, key: url}}}
`;
  assert.match((await lint([monitor(spec), channel].join('---'))).out, /team-chat: it is not in these files/);
  assert.equal((await lint(monitor(spec))).status, 0);
});

test('notes end well unless they were asked for', async () => {
  const spec = '{alerting: {channelRefs: [{name: a, severities: []}]}}';
  const { status, out } = await lint(monitor(spec));
  assert.equal(status, 0);
  assert.match(out, /note {5}spec\.alerting\.channelRefs\[0\]\.severities: .*means both \(SeveritiesEmpty\)/);
  assert.equal((await lint(monitor(spec), '--fail-on', 'note')).status, 1);
});

test('only errors end badly where warnings may stand', async () => {
  const spec = '{alerting: {channelRefs: [{name: a, severities: [critical]}]}}';
  assert.equal((await lint(monitor(spec))).status, 1);
  assert.equal((await lint(monitor(spec), '--fail-on=error')).status, 0);
});

test('programs get the findings as JSON', async () => {
  const { out } = await lint(monitor('{sla: {windowDays: 0}}'), '--format', 'json');
  assert.deepEqual(JSON.parse(out), [
    {
      place: 'standard input: document 1',
      object: 'CronJobMonitor prod/backups',
      level: 'error',
      code: 'schema',
      path: 'spec.sla.windowDays',
      message: 'must be a whole number from 1 to 365, is 0',
    },
  ]);
});

test('two objects of one name, a name that cannot be and another version are told', async () => {
  const odd = monitor('{}', 'Back_ups').replace('cronjob-monitor.io/v1alpha1', 'guardian.illenium.net/v1alpha1');
  const { out } = await lint([monitor('{}'), monitor('{}'), odd].join('---'));
  assert.match(out, /document 2: .*\n {2}error {4}metadata\.name: is the name of standard input: document 1 too/);
  assert.match(out, /document 3: .*\n.*apiVersion: must be cronjob-monitor\.io\/v1alpha1.*convert makes ours of it/);
  assert.match(out, /metadata\.name: must be small letters, digits, hyphens and dots, is "Back_ups"/);
});

test('lists of Kubernetes are taken apart, and a document without a namespace is in the one that is given', async () => {
  const list = {
    apiVersion: 'v1',
    kind: 'List',
    items: [{ apiVersion: 'cronjob-monitor.io/v1alpha1', kind: 'CronJobMonitor', metadata: { name: 'a' }, spec: 7 }],
  };
  const { out } = await lint(JSON.stringify(list), '--namespace', 'data');
  assert.match(
    out,
    /^standard input: document 1, item 1: CronJobMonitor data\/a\n {2}error {4}spec: must be an object/,
  );
});

test('what is no YAML is told with file, document, line and column, all of it at once', async (t) => {
  const folder = aTemporaryFolder(t, { 'a.yaml': 'a: 1\n---\nb: [1', 'b.yaml': 'a: 1\na: 2\n', 'c.yaml': 'just text' });
  const files = ['a.yaml', 'b.yaml', 'c.yaml', 'd.yaml'].map((name) => join(folder, name));
  const { status, out, error } = await runCommand(['lint', ...files]);
  assert.equal(status, 2);
  assert.equal(out, '');
  const lines = error.trim().split('\n');
  assert.match(lines[0] ?? '', /^cronjob-monitor lint: .*a\.yaml: document 2, line 3, column 6: is no YAML: /);
  assert.match(lines[1] ?? '', /b\.yaml: document 1, line 2, column 1: is no YAML: duplicate key/);
  assert.match(lines[2] ?? '', /c\.yaml: document 1: is one value; allowed: an object of Kubernetes/);
  assert.match(lines[3] ?? '', /d\.yaml: cannot be read: there is no such file/);
});

test('a small file cannot become a large value', async () => {
  const levels = Array.from({ length: 9 }, (_, n) => `l${n + 1}: &l${n + 1} [${`*l${n},`.repeat(9)}]`);
  const { status, error } = await lint(`l0: &l0 [x]\n${levels.join('\n')}\n`);
  assert.equal(status, 2);
  assert.match(error, /has more than 100 aliases/);
});

test('files without a monitor or channel are fine: a pipeline checks whatever has changed', async () => {
  const said = await lint('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n');
  assert.deepEqual(said, { status: 0, out: 'no CronJobMonitor and no AlertChannel: nothing to check\n', error: '' });
  const json = await lint('kind: ConfigMap\n', '--format', 'json');
  assert.deepEqual([json.status, json.out], [0, '[]\n']);
});

test('a kind of our group that there is not is an error, with the one that was meant', async () => {
  const { status, out } = await lint(monitor('{}').replace('kind: CronJobMonitor', 'kind: CronjobMonitor'));
  assert.equal(status, 1);
  assert.equal(
    out,
    `standard input: document 1: CronjobMonitor backups
  error    kind: CronjobMonitor is no kind of cronjob-monitor.io; did you mean CronJobMonitor?
1 object: 1 error, 0 warnings, 0 notes
`,
  );
  const none = await lint('apiVersion: cronjob-monitor.io/v1beta7\n');
  assert.match(none.out, /null is no kind of cronjob-monitor\.io; allowed: CronJobMonitor, AlertChannel/);
});

test('CronJobs that name no zone are one note, which counts them and says what it means', async () => {
  const zoneless = ['a', 'b', 'c', 'd'].map((name) => cronJob(name, '30 2 * * *').replace('  timeZone: Etc/UTC\n', ''));
  const { status, out } = await lint([monitor('{}'), ...zoneless].join('---'));
  assert.equal(status, 0);
  const told = out.split('\n').filter((line) => line.includes('ZoneNotDeclared'));
  assert.equal(told.length, 1);
  assert.match(
    told[0] ?? '',
    /4 CronJobs name no time zone \(prod\/a, prod\/b, prod\/c and 1 more\): the clock of the cluster decides, which is taken for UTC; set/,
  );
});

test('a wrong flag is told with the right one, and a token is taken from no flag', async () => {
  const wrong = await runCommand(['lint', 'a.yaml', '--formt', 'json']);
  assert.equal(wrong.status, 2);
  assert.match(wrong.error, /--formt is no flag of this command; did you mean --format\?/);
  const token = await runCommand(['lint', 'a.yaml', '--token', 's3cret']);
  assert.match(token.error, /CRONJOB_MONITOR_TOKEN/);
  assert.doesNotMatch(token.error, /s3cret/);
  assert.match((await runCommand(['lint'])).error, /which files\?/);
  assert.match((await runCommand(['lint', 'a', '--fail-on', 'all'])).error, /allowed: error, warning, note/);
});
