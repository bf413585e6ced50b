import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { runCommand } from '../testing/console.ts';

const names = ['lint', 'preview', 'explain', 'route', 'coverage', 'wait', 'convert', 'copy'];

test('help lists the commands, and each tells its usage and its ends', async () => {
  const { status, out } = await runCommand(['--help']);
  assert.equal(status, 0);
  for (const name of names) {
    assert.match(out, new RegExp(`^  ${name} `, 'm'));
    for (const argv of [
      [name, '--help'],
      ['help', name],
    ]) {
      const help = await runCommand(argv);
      assert.equal(help.status, 0);
      assert.match(help.out, new RegExp(`^Usage: cronjob-monitor ${name} `));
      assert.match(help.out, /Ends with 0: .*; 1: .*2: /);
    }
  }
});

test('nothing, and what is no command, end with 2 on standard error', async () => {
  assert.deepEqual(
    [await runCommand([]), await runCommand(['lnt'])].map(({ status, out }) => [status, out]),
    [
      [2, ''],
      [2, ''],
    ],
  );
  assert.match((await runCommand(['lnt'])).error, /"lnt" is no command; did you mean lint\?/);
});

test('the version is that of the product', async () => {
  assert.match((await runCommand(['--version'])).out, /^cronjob-monitor v\d+\.\d+\.\d+\n$/);
});

test('a name that would steer a terminal is shown as text', async () => {
  const { error } = await runCommand(['lint', 'a\u001b[31mb.yaml']);
  assert.ok(!error.includes('\u001b'), error);
});

interface Result {
  readonly status: number;
  readonly objects: readonly { readonly kind: string; readonly spec: Readonly<Record<string, unknown>> }[];
  readonly comments: readonly string[];
  readonly error: string;
  readonly text: string;
}

async function convert(input: string): Promise<Result> {
  const { status, out, error } = await runCommand(['convert', '-'], { input });
  const documents = parseAllDocuments(out);
  assert.ok(Array.isArray(documents));
  const objects = documents.map((document) => document.toJS() as Result['objects'][number]);
  return { status, objects, comments: out.split('\n').filter((line) => line.startsWith('# ')), error, text: out };
}

const resource = (kind: string, spec: string) =>
  `apiVersion: guardian.illenium.net/v1alpha1\nkind: ${kind}\nmetadata: {name: a, namespace: prod}\nspec: ${spec}\n`;
const monitor = (spec: string) => convert(resource('CronJobMonitor', spec));
const channel = (spec: string) => convert(resource('AlertChannel', spec));

test('a monitor whose fields mean the same is carried over as it is', async () => {
  const spec = {
    selector: { matchLabels: { tier: 'critical' }, matchExpressions: [{ key: 'skip', operator: 'DoesNotExist' }] },
    deadManSwitch: { enabled: true, autoFromSchedule: { enabled: true, buffer: '10m', missedScheduleThreshold: 1 } },
    sla: { minSuccessRate: 99.9, windowDays: 30, maxDuration: '30m', durationRegressionThreshold: 25 },
    suspendedHandling: { pauseMonitoring: true, alertIfSuspendedFor: '168h' },
    maintenanceWindows: [{ name: 'month-end', schedule: '0 0 1 * *', duration: '6h', timezone: 'America/New_York' }],
    alerting: {
      channelRefs: [{ name: 'pager', severities: ['critical'] }, { name: 'chat' }],
      includeContext: { logs: true, logLines: 100 },
      severityOverrides: { jobFailed: 'critical', slaBreached: 'critical' },
      suggestedFixPatterns: [
        { name: 'disk', match: { logPattern: 'no space left' }, suggestion: 'Grow {{.Name}}.', priority: 150 },
      ],
      suppressDuplicatesFor: '15m',
      alertDelay: '0s',
    },
    dataRetention: { retentionDays: 60, storeLogs: true, onCronJobDeletion: 'retain' },
  };
  const { status, objects, comments } = await monitor(JSON.stringify(spec));
  assert.equal(status, 0);
  assert.deepEqual(objects, [
    {
      apiVersion: 'cronjob-monitor.io/v1alpha1',
      kind: 'CronJobMonitor',
      metadata: { name: 'a', namespace: 'prod' },
      spec,
    },
  ]);
  assert.deepEqual(comments, ['# from standard input: document 1']);
});

test('a failed run stays as critical as it was where its severity is not set', async () => {
  const { status, objects, comments } = await monitor(
    '{alerting: {channelRefs: [{name: pager, severities: [critical]}]}}',
  );
  assert.equal(status, 0);
  assert.deepEqual(objects[0]?.spec['alerting'], {
    channelRefs: [{ name: 'pager', severities: ['critical'] }],
    severityOverrides: { jobFailed: 'critical' },
  });
  assert.match(comments[1] ?? '', /changed: spec\.alerting\.severityOverrides: jobFailed is critical/);
});

test('what has no counterpart is left out, and told above the result', async () => {
  const { status, objects, comments, error } = await monitor(
    `
    dependencies: [{name: upstream}]
    timezone: Europe/Berlin
    remediation: {enabled: true, killStuckJobs: {enabled: true, afterDuration: 2h}}
    alerting: {groupingKey: perMonitor, severityOverrides: {jobFailed: warning, stuckJob: critical, dependencyFailed: info}}
    colour: blue`.replaceAll('\n    ', '\n  '),
  );
  assert.equal(status, 1);
  assert.deepEqual(objects[0]?.spec, {
    stuckJobs: { overrunningAfter: '2h' },
    alerting: { severityOverrides: { jobFailed: 'warning', jobStuck: 'critical' } },
  });
  const leftOut = comments.flatMap((line) => /^# left out: (\S+):/.exec(line)?.[1] ?? []);
  assert.deepEqual(leftOut.sort(), [
    'spec.alerting.groupingKey',
    'spec.alerting.severityOverrides.dependencyFailed',
    'spec.colour',
    'spec.dependencies',
    'spec.remediation',
    'spec.timezone',
  ]);
  assert.match(error, /1 resource converted, 6 things left out/);
});

test('a channel that takes info alone is named no more: an empty list would mean everything', async () => {
  const refs = '[{name: a, severities: [info]}, {name: b, severities: [info, warning]}]';
  const { status, objects } = await monitor(`{alerting: {channelRefs: ${refs}, severityOverrides: {jobFailed: info}}}`);
  assert.equal(status, 1);
  assert.deepEqual(objects[0]?.spec['alerting'], {
    channelRefs: [{ name: 'b', severities: ['warning'] }],
    severityOverrides: { jobFailed: 'warning' },
  });
});

test('fields that its examples have and its schema drops are taken as they were meant', async () => {
  const { objects, comments } = await monitor(`
  namespaces: [prod, staging]
  selector: {matchLabels: {monitored: "true"}}
  alerting:
    severityOverrides: {jobFailed: warning}
    context: {includeLogs: true, logLines: 100, includeEvents: true, includeSuggestedFix: true}`);
  const { selector, alerting } = objects[0]?.spec ?? {};
  assert.deepEqual(selector, { matchLabels: { monitored: 'true' }, namespaces: ['prod', 'staging'] });
  const { includeContext } = alerting as { includeContext: unknown };
  assert.deepEqual(includeContext, { logs: true, logLines: 100, events: true, suggestedFixes: true });
  assert.ok(comments.some((line) => line.includes('monitors.cross-namespace-from')));
});

test('of several ways to name namespaces the one that had effect stays', async () => {
  const all = await monitor('{selector: {allNamespaces: true, namespaces: [a], matchNames: [b]}}');
  assert.deepEqual(all.objects[0]?.spec['selector'], { matchNames: ['b'], allNamespaces: true });
  assert.equal(all.status, 0);
  const both = await monitor('{selector: {namespaces: [a], namespaceSelector: {matchLabels: {b: c}}}}');
  assert.deepEqual(both.objects[0]?.spec['selector'], { namespaces: ['a'] });
  assert.equal(both.status, 1);
});

test('a dead-man switch that could never fire is left out, for it would be refused', async () => {
  const { objects, comments } = await monitor('{deadManSwitch: {enabled: true}}');
  assert.deepEqual(objects[0]?.spec, {});
  assert.match(comments[1] ?? '', /left out: spec\.deadManSwitch: /);
});

test('channels keep their Secrets, limits and addresses under our names', async () => {
  const ref = { name: 'n', namespace: 'ns', key: 'k' };
  const chat = await channel(
    JSON.stringify({ type: 'slack', slack: { webhookSecretRef: ref, defaultChannel: '#ops' }, testOnSave: true }),
  );
  assert.deepEqual(chat.objects[0]?.spec, {
    type: 'chat',
    chat: { webhookSecretRef: ref, defaultChannel: '#ops' },
    testOnSave: true,
  });
  assert.equal(chat.status, 0);
  const paging = await channel(
    JSON.stringify({
      type: 'pagerduty',
      pagerduty: { routingKeySecretRef: ref, severity: 'critical' },
      rateLimiting: { maxAlertsPerHour: 300, burstLimit: 30 },
    }),
  );
  assert.deepEqual(paging.objects[0]?.spec, {
    type: 'paging',
    paging: { routingKeySecretRef: ref, severity: 'critical' },
    rateLimiting: { maxAlertsPerHour: 300, burstLimit: 30 },
  });
  const email = {
    type: 'email',
    email: { smtpSecretRef: { name: 'n', namespace: 'ns' }, from: 'a@example.org', to: ['b@example.org'] },
  };
  assert.deepEqual((await channel(JSON.stringify(email))).objects[0]?.spec, email);
});

test('templates that fill in values are put into our words', async () => {
  const messageTemplate =
    '*{{ .Severity | upper }}*: {{ .Title }} of {{.Namespace}}/{{ .CronJobName }}{{ if .SuggestedFix }}: {{ .SuggestedFix }}{{ end }}';
  const { status, objects, comments } = await channel(
    JSON.stringify({
      type: 'slack',
      slack: { webhookSecretRef: { name: 'n', namespace: 'ns', key: 'k' }, messageTemplate },
    }),
  );
  assert.equal(status, 0);
  const chat = objects[0]?.spec['chat'] as { messageTemplate: string } | undefined;
  assert.equal(
    chat?.messageTemplate,
    '*{{ .Alert.Severity }}*: {{ .Alert.Title }} of {{ .Namespace }}/{{ .CronJob.Name }}: {{ .Context.SuggestedFix }}',
  );
  assert.ok(comments.some((line) => line.includes('functions are gone: | upper')));
});

test('a template that decides is left out, and the built-in one sends', async () => {
  const payloadTemplate = '{"colour": {{ if eq .Severity "critical" }}1{{ else }}2{{ end }}}';
  const webhook = {
    urlSecretRef: { name: 'n', namespace: 'ns', key: 'k' },
    payloadTemplate,
    headers: { Host: 'x', 'X-Team': 'y' },
  };
  const { status, objects, comments } = await channel(JSON.stringify({ type: 'webhook', webhook }));
  assert.equal(status, 1);
  assert.deepEqual(objects[0]?.spec['webhook'], { urlSecretRef: webhook.urlSecretRef, headers: { 'X-Team': 'y' } });
  assert.ok(comments.some((line) => /left out: spec\.webhook\.payloadTemplate: .*built-in/.test(line)));
});

test('a payload that is no JSON once its values are in quotes is left out too', async () => {
  const webhook = { urlSecretRef: { name: 'n', namespace: 'ns', key: 'k' }, payloadTemplate: '{"a": {{ .Title }}}' };
  const { status, objects, comments } = await channel(JSON.stringify({ type: 'webhook', webhook }));
  assert.equal(status, 1);
  assert.deepEqual(objects[0]?.spec['webhook'], { urlSecretRef: webhook.urlSecretRef });
  assert.ok(comments.some((line) => line.includes('must be the text of one JSON value')));
});

test('what a cluster wrote beside the spec is not carried over, and a list of kubectl is taken apart', async () => {
  const item = {
    apiVersion: 'guardian.illenium.net/v1alpha1',
    kind: 'CronJobMonitor',
    metadata: {
      name: 'a',
      namespace: 'b',
      uid: 'c',
      resourceVersion: '7',
      labels: { team: 'data' },
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}', note: 'mine' },
    },
    status: { phase: 'Active' },
  };
  const { objects } = await convert(JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [item] }));
  assert.deepEqual(objects, [
    {
      apiVersion: 'cronjob-monitor.io/v1alpha1',
      kind: 'CronJobMonitor',
      metadata: { name: 'a', namespace: 'b', labels: { team: 'data' }, annotations: { note: 'mine' } },
      spec: {},
    },
  ]);
});

test('what is converted has no error of the lint', async () => {
  const spec = `{selector: {}, deadManSwitch: {enabled: true, maxTimeSinceLastSuccess: 25h}, sla: {minSuccessRate: 95}}`;
  const { out } = await runCommand(['convert', '-'], { input: resource('CronJobMonitor', spec) });
  assert.equal((await runCommand(['lint', '-', '--fail-on', 'error'], { input: out })).status, 0);
});

test('what it says is left out is not in the result, and the result can be applied', async () => {
  const { status, objects, comments, text } = await monitor(`
  sla: {minSuccessRate: 950, windowDays: 7, maxDuration: soon}
  maintenanceWindows: [{schedule: "0 1 * * 0", duration: 3h, timezone: PST}, {schedule: "0 2 * * 0", duration: 1h}]
  alerting: {suppressDuplicatesFor: often, severityOverrides: {jobFailed: warning}}`);
  assert.equal(status, 1);
  assert.deepEqual(objects[0]?.spec, {
    sla: { windowDays: 7 },
    maintenanceWindows: [
      { name: 'window-1', schedule: '0 1 * * 0', duration: '3h' },
      { name: 'window-2', schedule: '0 2 * * 0', duration: '1h' },
    ],
    alerting: { severityOverrides: { jobFailed: 'warning' } },
  });
  const leftOut = comments.flatMap((line) => /^# left out: (\S+): cannot be used/.exec(line)?.[1] ?? []);
  assert.deepEqual(leftOut.sort(), [
    'spec.alerting.suppressDuplicatesFor',
    'spec.maintenanceWindows[0].timezone',
    'spec.sla.maxDuration',
    'spec.sla.minSuccessRate',
  ]);
  assert.equal((await runCommand(['lint', '-', '--fail-on', 'error'], { input: text })).status, 0);
});

test('a block, a list or an item of another form is told as left out, and never gone in silence', async () => {
  const { status, objects, comments } = await monitor(`
  sla: true
  deadManSwitch: 25h
  suspendedHandling: [a]
  dataRetention: "30"
  remediation: "on"
  maintenanceWindows: [just text, {name: night, schedule: "0 2 * * 0", duration: 2h}]
  alerting: {channelRefs: ops, suggestedFixPatterns: none, severityOverrides: critical, includeContext: true}`);
  assert.equal(status, 1);
  assert.deepEqual(objects[0]?.spec, {
    maintenanceWindows: [{ name: 'night', schedule: '0 2 * * 0', duration: '2h' }],
    alerting: { severityOverrides: { jobFailed: 'critical' } },
  });
  const leftOut = comments.flatMap(
    (line) => /^# left out: (\S+): must be an? (?:object|list), is/.exec(line)?.[1] ?? [],
  );
  const listed = comments.flatMap((line) => /^# left out: (\S+): must be a list, is/.exec(line)?.[1] ?? []);
  assert.deepEqual(listed.sort(), ['spec.alerting.channelRefs', 'spec.alerting.suggestedFixPatterns']);
  assert.deepEqual(
    leftOut.sort(),
    [
      ...listed,
      'spec.alerting.includeContext',
      'spec.alerting.severityOverrides',
      'spec.dataRetention',
      'spec.deadManSwitch',
      'spec.maintenanceWindows[0]',
      'spec.remediation',
      'spec.sla',
      'spec.suspendedHandling',
    ].sort(),
  );
});

test('a selector that is no object is still to do: without one the monitor would select its whole namespace', async () => {
  const { status, objects, comments } = await monitor('{selector: everything}');
  assert.equal(status, 1);
  assert.deepEqual(objects[0]?.spec, { selector: 'everything' });
  assert.ok(
    comments.some((line) => line.startsWith('# to do: spec.selector: ')),
    comments.join('\n'),
  );
});

test('a channel whose address is of another form keeps the rest of its spec', async () => {
  const { status, objects, comments } = await channel('{type: slack, slack: "https://chat.example", testOnSave: true}');
  assert.equal(status, 1);
  assert.deepEqual(objects[0]?.spec, { type: 'chat', testOnSave: true });
  assert.ok(
    comments.some((line) => line.startsWith('# left out: spec.slack: must be an object, is "https://chat.example"')),
  );
  assert.ok(comments.some((line) => line.startsWith('# to do: spec: spec.chat is needed')));
});

test('a window without a name gets one that no other has', async () => {
  const windows = '[{schedule: "0 1 * * 0", duration: 3h}, {name: window-1, schedule: "0 2 * * 0", duration: 1h}]';
  const { status, objects, comments } = await monitor(`{maintenanceWindows: ${windows}}`);
  assert.equal(status, 0);
  const named = objects[0]?.spec['maintenanceWindows'] as { name: string }[];
  assert.deepEqual(
    named.map(({ name }) => name),
    ['window-2', 'window-1'],
  );
  assert.ok(comments.some((line) => line.includes('changed: spec.maintenanceWindows[0].name: is window-2')));
});

test('what the result needs and nothing gives, and a selector that cannot be used, are still to do', async () => {
  const { status, objects, comments, error } = await channel(JSON.stringify({ type: 'slack', slack: {} }));
  assert.equal(status, 1);
  assert.equal(objects[0]?.spec['type'], 'chat');
  assert.ok(
    comments.some((line) => line.startsWith('# to do: spec.chat.webhookSecretRef: ')),
    comments.join('\n'),
  );
  assert.match(error, /1 thing/);
  const selecting = await monitor('{selector: {matchLabels: {a: [b]}}}');
  assert.equal(selecting.status, 1);
  assert.deepEqual(selecting.objects[0]?.spec, { selector: { matchLabels: { a: ['b'] } } });
  assert.ok(selecting.comments.some((line) => line.startsWith('# to do: spec.selector')));
});

test('files without a resource of cronjob-guardian are an input error; other kinds are passed over', async () => {
  const none = await runCommand(['convert', '-'], { input: 'apiVersion: v1\nkind: ConfigMap\n' });
  assert.equal(none.status, 2);
  assert.match(none.error, /there is no resource of cronjob-guardian in -/);
  const config = await convert(
    `${resource('GuardianConfig', '{}')}---\n${resource('CronJobMonitor', '{}')}---\nkind: Secret\n`,
  );
  assert.equal(config.status, 1);
  assert.match(config.error, /"GuardianConfig" has no counterpart/);
  assert.match(config.error, /1 document of other kinds passed over/);
});
