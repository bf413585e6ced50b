import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  isAboutAlert,
  toHolding,
  type AlertFinding,
  type AlertMessage,
  type FindingVerdict,
  type HoldingVerdict,
  type Message,
} from '@cronjob-monitor/shared/domain';
import type { AlertRecord } from '@cronjob-monitor/shared/store';
import { anAlertRecord } from '@cronjob-monitor/shared/testing';
import { createFreeze, withLearned, type FreezeDeps, type MessageRequest } from './freeze.ts';

const id = '019a5b3c-7d1e-7a40-8c11-2b5e9f3c21aa';
const minute = 60_000;
const start = Date.parse('2026-11-21T01:00:00Z');

const verdict: HoldingVerdict = {
  kind: 'holds',
  since: start,
  reason: 'runFailed',
  figures: { measured: 3, limit: 1, unit: 'runs' },
  count: 3,
  detail: {
    jobName: 'nightly-1',
    exitCode: 137,
    reason: 'OOMKilled',
    signature: '137/OOMKilled',
    fault: { cause: 'capacity', scope: 'namespace prod' },
  },
};
const run = {
  jobUid: 'u1',
  jobName: 'nightly-1',
  trigger: 'scheduled',
  scheduledAt: start,
  startedAt: start + 1_000,
  finishedAt: start + 162_000,
  durationMs: 161_000,
  exitCode: 137,
  reason: 'OOMKilled',
  attempts: 7,
} as const;
const worded = toHolding('jobFailed', undefined, verdict, { timeZone: 'UTC', run });

const alert = anAlertRecord(start + minute, {
  id,
  fingerprint: 'f',
  cronJobName: 'nightly',
  ...worded,
  // As it comes back from the database.
  figures: JSON.parse(JSON.stringify(worded.figures)),
  context: JSON.parse(JSON.stringify(worded.context)),
});

const whole: FreezeDeps = {
  clusterName: 'prod-eu',
  externalUrl: 'https://monitor.example.org/base/',
  findCronJob: (uid) =>
    uid === 'cj'
      ? {
          schedule: '0 2 * * *',
          timeZone: 'Europe/Berlin',
          lastSuccessAt: start - 86_400_000,
          nextRunAt: start + 86_400_000,
          runbook: 'https://runbooks.example.org/nightly',
        }
      : undefined,
};

const finding: AlertFinding = {
  monitor: { id: 1, uid: 'm', namespace: 'prod', name: 'backups' },
  cronJob: { id: 1, uid: 'cj', namespace: 'prod', name: 'nightly' },
  type: 'jobFailed',
  subject: undefined,
  verdict: { kind: 'holds', occurred: 1, delayed: false, ...worded },
  // Nothing of it is asked of a message that waits for nothing.
  rules: undefined as never,
};

function freeze(changes: Partial<MessageRequest> = {}, deps = whole, ending?: FindingVerdict): AlertMessage {
  const { message } = freezeWhole(changes, deps, ending);
  assert.ok(isAboutAlert(message));
  return message.data;
}

function freezeWhole(changes: Partial<MessageRequest>, deps: FreezeDeps, ending?: FindingVerdict) {
  return createFreeze(deps)({
    kind: 'firing',
    alert,
    finding: { ...finding, verdict: ending ?? finding.verdict },
    notification: 1,
    held: undefined,
    at: start + 2 * minute,
    ...changes,
  });
}

test('a message says all that is known of the alert, its run and its CronJob', () => {
  const evidence = {
    logs: 'Killed\n',
    logsTruncated: true,
    logsUnavailable: null,
    pending: false,
    events: [{ time: null, type: 'Warning', reason: 'BackOff', message: 'back-off', count: 2 }],
    pods: [{ name: 'nightly-1-x', phase: 'Failed', reason: 'OOMKilled', node: 'node-3' }],
  };
  const place = { pod: 'nightly-1-x', container: 'main', image: 'backup:1', node: 'node-3' };
  const context = { ...(alert.context as object), suggestedFix: 'Raise its memory limit.', changes: [], place };
  const frozen = freezeWhole({ alert: { ...alert, context }, evidence }, whole);
  assert.deepEqual(frozen.place, place);
  assert.deepEqual(frozen.heading, { severity: 'warning', text: 'prod/nightly: job failed' });
  assert.deepEqual(frozen.message, {
    kind: 'firing',
    data: {
      cluster: 'prod-eu',
      alert: {
        id,
        shortId: '9f3c21aa',
        type: 'jobFailed',
        subject: null,
        severity: 'warning',
        state: 'active',
        title: 'WARNING prod/nightly: run failed, exit 137 (OOMKilled), 3rd in a row',
        message:
          'Run nightly-1 failed after 7 attempts with exit code 137 (OOMKilled). It is the 3rd failure in a row.',
        since: '2026-11-21T01:00:00.000Z',
        detectedAt: '2026-11-21T01:01:00.000Z',
        endedAt: null,
        closeCause: null,
        cause: 'capacity',
        scope: 'namespace prod',
        occurrences: 3,
        notification: 1,
        heldBy: null,
        heldSeconds: 0,
        delayed: false,
        flapping: false,
        firstNotice: false,
      },
      monitor: { namespace: 'prod', name: 'backups' },
      cronjob: {
        namespace: 'prod',
        name: 'nightly',
        uid: 'cj',
        schedule: '0 2 * * *',
        timezone: 'Europe/Berlin',
        lastSuccess: '2026-11-20T01:00:00.000Z',
        nextRun: '2026-11-22T01:00:00.000Z',
      },
      job: {
        name: 'nightly-1',
        trigger: 'scheduled',
        scheduledTime: '2026-11-21T01:00:00.000Z',
        startTime: '2026-11-21T01:00:01.000Z',
        completionTime: '2026-11-21T01:02:42.000Z',
        durationSeconds: 161,
        exitCode: 137,
        reason: 'OOMKilled',
        attempts: 7,
      },
      context: { suggestedFix: 'Raise its memory limit.', ...evidence, changes: [] },
      links: {
        cronjob: 'https://monitor.example.org/base/cronjobs/prod/nightly',
        alert: `https://monitor.example.org/base/alerts/${id}`,
        execution: 'https://monitor.example.org/base/cronjobs/prod/nightly/runs/nightly-1',
        runbook: 'https://runbooks.example.org/nightly',
      },
    },
  } satisfies Message);
});

test('what is not known is null', () => {
  const deps = { clusterName: undefined, externalUrl: undefined, findCronJob: () => undefined };
  const told = freeze({ alert: { ...alert, context: undefined, figures: undefined } }, deps);
  assert.equal(told.cluster, null);
  assert.deepEqual(told.job, null);
  assert.deepEqual(told.links, { cronjob: null, alert: null, execution: null, runbook: null });
  assert.deepEqual(
    [told.cronjob.schedule, told.cronjob.timezone, told.cronjob.lastSuccess, told.cronjob.nextRun],
    [null, null, null, null],
  );
  assert.equal(told.alert.title, 'WARNING prod/nightly: job failed');
  assert.deepEqual([told.context.logs, told.context.events, told.context.pods], [null, null, null]);
});

test('the last success is known of a CronJob that is gone', () => {
  const gone = { ...finding, cronJob: { ...finding.cronJob, uid: 'gone', lastSuccessAt: start } };
  assert.equal(freeze({ finding: gone }).cronjob.lastSuccess, new Date(start).toISOString());
});

test('a message that was held back says by what and for how long', () => {
  const { heldBy, heldSeconds } = freeze({ held: { by: 'alertDelay', sinceAt: start } }).alert;
  assert.deepEqual([heldBy, heldSeconds], ['alertDelay', 120]);
});

test('what a question held back that was answered at once was not held', () => {
  const heldSince = (ms: number) => {
    const { heldBy, heldSeconds } = freeze({ held: { by: 'storm', sinceAt: start + 120_000 - ms } }).alert;
    return [heldBy, heldSeconds];
  };
  assert.deepEqual(heldSince(400), [null, 0]);
  assert.deepEqual(heldSince(1_000), ['storm', 1]);
});

test('a closing says how long it lasted, what ended it, and what it was about', () => {
  const resolved: AlertRecord = { ...alert, state: 'resolved', endedAt: start + 192 * minute };
  const told = freeze({ kind: 'closing', alert: resolved }, whole, { kind: 'quiet', by: 'nightly-2' }).alert;
  assert.equal(told.title, 'RESOLVED prod/nightly: job failed, after 3 h 12 min');
  assert.match(told.message, /^It ended with run nightly-2 after 3 h 12 min\. It was: Run nightly-1 failed/);
  const expired: AlertRecord = { ...alert, state: 'expired', closeCause: 'paused', endedAt: start + minute };
  const closed = freeze({ kind: 'closing', alert: expired }, whole, { kind: 'gone', cause: 'paused' }).alert;
  assert.equal(closed.title, 'CLOSED prod/nightly: job failed, CronJob suspended');
  assert.match(closed.message, /^It cannot be judged any more \(CronJob suspended\), after 1 min\. It was: Run/);
});

test('a log that is missing says why, and one that is too long keeps its end', () => {
  const context = { ...(alert.context as object), logsUnavailable: 'podGone' };
  assert.equal(freeze({ alert: { ...alert, context } }).context.logsUnavailable, 'podGone');
  const logs = `first\n${'x'.repeat(16 * 1024)}\nlast\n`;
  const evidence = { logs, logsTruncated: false, logsUnavailable: null, events: null, pods: null };
  const told = freeze({ evidence }).context;
  assert.ok(told.logs?.endsWith('last\n') && Buffer.byteLength(told.logs) <= 16 * 1024);
  assert.equal(told.logsTruncated, true);
});

test('a message that waits for log and events says that they are still being read, and what is known of the pods', () => {
  const pods = [{ name: 'nightly-1-x', phase: 'Failed', reason: 'Error', node: 'n' }];
  const awaited = { messageWaitMs: 250, pods };
  const waiting = { kind: 'holds', occurred: 1, delayed: false, ...worded, awaited } as const;
  const frozen = freezeWhole({ finding: { ...finding, verdict: waiting } }, whole);
  const told = (message: typeof frozen) => (message.message.data as AlertMessage).context;
  assert.deepEqual([told(frozen).pending, told(frozen).logs, told(frozen).pods], [true, null, pods]);
  const evidence = { logs: 'Killed', logsTruncated: false, logsUnavailable: null, events: [], pods };
  assert.equal(told(withLearned(frozen, {}, evidence)).pending, false);
});

test('what is learned later takes the place of the context and of whose fault it is, and of nothing else', () => {
  const before = freezeWhole({}, whole);
  const facts = {
    suggestedFix: 'Add memory.',
    changes: [],
    place: { pod: 'p', container: 'c', image: 'i', node: null },
  };
  const evidence = { logs: 'Killed', logsTruncated: false, logsUnavailable: null, events: [], pods: [] };
  const after = withLearned(before, facts, evidence, { cause: 'platform', scope: 'node n' });
  const [old, fresh] = [before.message.data as AlertMessage, after.message.data as AlertMessage];
  assert.deepEqual(fresh, {
    ...old,
    alert: { ...old.alert, cause: 'platform', scope: 'node n' },
    context: { ...evidence, pending: false, suggestedFix: 'Add memory.', changes: [] },
  });
  assert.deepEqual([after.heading, after.place], [before.heading, facts.place]);
});

test('a flapping alert says so, and names with signs make no other address', () => {
  assert.equal(freeze({ kind: 'flapping' }).alert.flapping, true);
  const context = { ...(alert.context as object), jobName: 'a/../b?c#d' };
  assert.match(String(freeze({ alert: { ...alert, context } }).links.execution), /runs\/a%2F\.\.%2Fb%3Fc%23d$/);
});
