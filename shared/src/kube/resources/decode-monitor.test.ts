import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodedMonitor, wholeMonitorSpec } from '../../testing/index.ts';

test('an empty, absent or null spec watches failed, missed and stuck runs, and sends nothing', () => {
  const { spec, problems, notes } = decodedMonitor({});
  assert.deepEqual(spec, {
    selector: undefined,
    jobs: undefined,
    deadManSwitch: undefined,
    missedSchedule: { enabled: true, grace: '2m', threshold: 1, skipWarnAfter: undefined },
    jobFailed: {
      enabled: true,
      failureThreshold: 1,
      recoveryThreshold: 1,
      failuresOfLast: undefined,
      includeManual: true,
    },
    sla: undefined,
    output: undefined,
    stuckJobs: {
      enabled: true,
      notStartedAfter: '10m',
      hopelessAfter: '2m',
      overrunningAfter: undefined,
      terminatingAfter: '10m',
    },
    suspendedHandling: { pauseMonitoring: true, alertIfSuspendedFor: undefined },
    expects: undefined,
    dependsOn: [],
    maintenanceWindows: [],
    allowOverrides: ['channel', 'severity', 'grace', 'max-duration', 'finish-by', 'mute-until', 'ignore'],
    alerting: undefined,
    dataRetention: {
      retentionDays: 30,
      logRetentionDays: 30,
      maxLogSizeKB: 100,
      storeLogs: false,
      storeEvents: true,
      onCronJobDeletion: 'retain',
      purgeAfterDays: undefined,
      onRecreation: 'retain',
    },
  });
  assert.deepEqual([problems, notes], [[], []]);
  for (const absent of [undefined, null]) assert.deepEqual(decodedMonitor(absent).spec, spec);
});

test('blocks that are there get their defaults', () => {
  const { spec } = decodedMonitor({ deadManSwitch: { autoFromSchedule: {} }, sla: {}, alerting: {}, selector: {} });
  assert.deepEqual(spec.deadManSwitch?.autoFromSchedule, { enabled: true, buffer: '1h', missedScheduleThreshold: 1 });
  assert.deepEqual([spec.sla?.minSuccessRate, spec.sla?.windowDays, spec.sla?.durationBaselineWindowDays], [95, 7, 14]);
  assert.deepEqual([spec.alerting?.remindEvery, spec.alerting?.suppressDuplicatesFor], ['24h', '1h0m0s']);
  assert.equal(spec.alerting?.includeContext.logLines, 50);
  assert.equal(spec.selector?.unusable, undefined);
});

test('what a spec sets is kept as it was written', () => {
  const { spec } = decodedMonitor(wholeMonitorSpec, { storeLogs: true });
  assert.deepEqual(spec.sla, wholeMonitorSpec.sla);
  assert.deepEqual(spec.jobFailed, wholeMonitorSpec.jobFailed);
  assert.deepEqual(spec.maintenanceWindows, wholeMonitorSpec.maintenanceWindows);
  assert.deepEqual(spec.alerting, wholeMonitorSpec.alerting);
  assert.deepEqual(spec.dataRetention, wholeMonitorSpec.dataRetention);
});

test('a null counts as absent, as the API server has it', () => {
  const { spec, problems } = decodedMonitor({ jobFailed: { failureThreshold: null }, sla: null });
  assert.deepEqual([spec.jobFailed.failureThreshold, spec.sla, problems], [1, undefined, []]);
});

test('severities that cannot be used filter nothing: no alert stays untold', () => {
  const { spec, problems } = decodedMonitor({ alerting: { channelRefs: [{ name: 'a', severities: ['loud'] }] } });
  assert.deepEqual(spec.alerting?.channelRefs, [
    { name: 'a', severities: ['critical', 'warning'], after: undefined, unlessAcknowledged: true },
  ]);
  assert.equal(problems[0]?.path, 'spec.alerting.channelRefs[0].severities[0]');
});

test('an empty list of severities means both, and is noted', () => {
  const { spec, notes } = decodedMonitor({ alerting: { channelRefs: [{ name: 'a', severities: [] }, { name: 'b' }] } });
  assert.deepEqual(
    spec.alerting?.channelRefs.map(({ severities }) => severities.length),
    [2, 2],
  );
  assert.deepEqual(
    notes.map(({ code, path }) => [code, path]),
    [['SeveritiesEmpty', 'spec.alerting.channelRefs[0].severities']],
  );
});

test('retention and log size are lowered to their ceilings, and that is noted', () => {
  const { spec, notes } = decodedMonitor({
    dataRetention: { retentionDays: 400, logRetentionDays: 300, maxLogSizeKB: 500 },
  });
  const { retentionDays, logRetentionDays, maxLogSizeKB } = spec.dataRetention;
  assert.deepEqual([retentionDays, logRetentionDays, maxLogSizeKB], [90, 90, 100]);
  assert.deepEqual(
    notes.map(({ code }) => code),
    ['RetentionClamped', 'LogSizeClamped', 'RetentionClamped'],
  );
});

test('a gate of the configuration that is shut stays shut, and a wish against it is noted', () => {
  const { spec, notes } = decodedMonitor(
    { dataRetention: { storeLogs: true, storeEvents: true } },
    { storeEvents: false },
  );
  assert.deepEqual([spec.dataRetention.storeLogs, spec.dataRetention.storeEvents], [false, false]);
  assert.deepEqual(
    notes.map(({ code }) => code),
    ['LogStorageOff', 'EventStorageOff'],
  );
});

test('logs are kept no longer than runs when only the runs are limited', () => {
  const { spec, problems } = decodedMonitor({ dataRetention: { retentionDays: 3 } }, { logRetentionDays: 20 });
  assert.deepEqual([spec.dataRetention.logRetentionDays, problems], [3, []]);
});

test('names that Object.prototype has are no fields', () => {
  const { spec, problems } = decodedMonitor(JSON.parse('{"__proto__": {"sla": {}}, "constructor": 7}'));
  assert.deepEqual([spec.sla, problems], [undefined, []]);
});

test('assertions about the output that cannot be used are named and left out, the others work on', () => {
  const { spec, problems } = decodedMonitor({
    output: {
      assertions: [
        { name: 'rows', fact: 'rows', min: 0 },
        { name: 'nothing', fact: 'rows' },
        { name: 'crossed', fact: 'rows', min: 2, max: 1 },
        { name: 'rows', fact: 'bytes', required: true },
        { name: 'odd', fact: 'Rows', min: 1 },
        { name: 'drop', fact: 'bytes', dropBelow: { percent: 50 } },
      ],
    },
  });
  assert.deepEqual(
    spec.output?.assertions.map(({ name, min, required, dropBelow }) => [name, min, required, dropBelow]),
    [
      ['rows', 0, false, undefined],
      ['drop', undefined, false, { percent: 50, runs: 14 }],
    ],
  );
  assert.deepEqual(
    problems.map(({ path, message }) => [path, message]),
    [
      ['spec.output.assertions[1]', 'an assertion needs min, max, dropBelow or required'],
      ['spec.output.assertions[2]', 'min must not exceed max'],
      [
        'spec.output.assertions[4].fact',
        'must be a name of a to z, 0 to 9 and _ that begins with a letter, at most 32 characters',
      ],
      ['spec.output.assertions', 'has the name "rows" twice'],
    ],
  );
});
