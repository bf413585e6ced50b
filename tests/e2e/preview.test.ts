import assert from 'node:assert/strict';
import { test } from 'node:test';
import { effectiveOf, minuteMs, hourMs, dayMs } from '@cronjob-monitor/shared/domain';
import { previewCronJob } from '@cronjob-monitor/shared/domain/preview';
import { alertRulesOf, decodeMonitorSpec, detectionRulesOf } from '@cronjob-monitor/shared/kube';
import { findStartSkew, listSpecEpochs, readHistories } from '@cronjob-monitor/shared/store';
import { aCronJob, openStage } from '../faults/ledger/stage.ts';
import { readRows } from '../store/rows.ts';
import { monitorDefaults } from '@cronjob-monitor/shared/testing';

const stepMs = 10 * minuteMs;
const startAt = Date.parse('2026-10-26T00:02:00Z');
/** A week where there is time for it; else until all that is done to the cluster is over. */
const days = process.env['FAULTS'] === undefined ? 4 : 7;
const endAt = startAt + days * dayMs;

const previewDefaults = { ...monitorDefaults, storeLogs: true, storeEvents: false };

/** Backups in a row that end well and hold nothing. */
const emptyBackups = 47;

/** Each CronJob, how its runs go, and what a monitor of its own asks about it. */
const fleet: Readonly<Record<string, { readonly cron: object; readonly play: object; readonly monitor: object }>> = {
  flaky: {
    cron: { schedule: '10 * * * *' },
    play: { outcome: 'success,success,exit:1,success,exit:3,exit:3,success', seconds: '40' },
    monitor: { sla: { enabled: true, minSuccessRate: 70, windowDays: 2, minRuns: 5 } },
  },
  threshold: {
    cron: { schedule: '25 */2 * * *' },
    play: { outcome: 'exit:1,exit:1,success,exit:1,success,success,success', seconds: '30' },
    monitor: { jobFailed: { failureThreshold: 2, recoveryThreshold: 2 }, alerting: { suppressDuplicatesFor: '20m' } },
  },
  delayed: {
    cron: { schedule: '*/30 * * * *' },
    play: { outcome: 'success,success,success,exit:1,success,exit:1,exit:1,success', seconds: '20' },
    monitor: { alerting: { alertDelay: '45m', severityOverrides: { jobFailed: 'critical' } } },
  },
  slow: {
    cron: { schedule: '40 */3 * * *' },
    play: { outcome: 'success', seconds: '60,70,60,65,4000,60,5000,62' },
    monitor: { sla: { enabled: true, maxDuration: '30m', minDuration: '62s' }, stuckJobs: { overrunningAfter: '1h' } },
  },
  nightly: {
    cron: { schedule: '30 2 * * *', timeZone: 'America/New_York' },
    play: { outcome: 'success,exit:1,success,success,exit:1,exit:1,success', seconds: '600' },
    monitor: {
      deadManSwitch: { enabled: true, maxTimeSinceLastSuccess: '26h' },
      sla: { enabled: true, finishBy: { time: '06:00', timezone: 'America/New_York' } },
    },
  },
  paused: {
    cron: { schedule: '15 */4 * * *' },
    play: { outcome: 'success', seconds: '30' },
    monitor: {
      suspendedHandling: { alertIfSuspendedFor: '8h' },
      deadManSwitch: { enabled: true, autoFromSchedule: { enabled: true, buffer: '30m' } },
    },
  },
  flapping: {
    cron: { schedule: '*/15 * * * *' },
    play: { outcome: `${'exit:1,success,'.repeat(8)}${'success,'.repeat(60)}success`, seconds: '20' },
    monitor: {},
  },
  backup: {
    cron: { schedule: '5 * * * *' },
    play: {
      outcome: 'success',
      seconds: '60',
      messages: [
        ...Array<string>(30).fill('::cronjob-monitor rows=900 bytes=4.5e9'),
        ...Array<string>(emptyBackups).fill('::cronjob-monitor rows=0 bytes=120'),
        ...Array<string>(200).fill('::cronjob-monitor rows=910 bytes=4.6e9'),
      ].join(','),
    },
    monitor: {
      output: {
        assertions: [
          { name: 'rows', fact: 'rows', min: 1, severity: 'critical' },
          { name: 'size', fact: 'bytes', dropBelow: { percent: 50 } },
        ],
      },
    },
  },
  muted: {
    cron: { schedule: '50 * * * *' },
    play: { outcome: 'exit:1,exit:1,success,exit:1,success', seconds: '30' },
    monitor: { maintenanceWindows: [{ name: 'mornings', schedule: '0 6 * * *', duration: '5h' }] },
  },
};

/**
 * Days of a cluster with failures, outages, edits and, in a week, a change of winter time: what the service did, and what the preview of the same
 * monitors says of the history that it stored.
 */
test(`a preview of ${days} days tells the alerts that there were, one by one`, async (t) => {
  const monitors = Object.entries(fleet).map(([name, { monitor }]) => {
    const { alerting = {}, ...rest } = monitor as { alerting?: object };
    const spec = {
      selector: { matchNames: [name] },
      missedSchedule: { grace: '2m' },
      ...rest,
      alerting: { channelRefs: [{ name: 'hook' }, { name: 'pager', severities: ['critical'] }], ...alerting },
    };
    return { namespace: 'default', name, spec };
  });
  const stage = await openStage(t, {
    startAt: new Date(startAt).toISOString(),
    cronJobs: Object.entries(fleet).map(([name, { cron, play }]) => aCronJob(name, { ...cron }, { ...play })),
    verdicts: { monitors, channels: ['hook', 'pager'] },
  });
  const { clock, rig, sim } = stage;
  const passTo = async (until: number, byMs = stepMs): Promise<void> => {
    for (let at = clock.now() + byMs; at <= until; at += byMs) {
      clock.advanceTo(at);
      await rig.tick();
    }
  };
  await passTo(startAt + 1.5 * dayMs);
  stage.change('paused', { suspend: true });
  await passTo(startAt + 2.2 * dayMs);
  stage.change('paused', { suspend: false });
  await passTo(startAt + 3 * dayMs);
  const resume = sim.pauseCronJobs();
  await passTo(startAt + 3 * dayMs + 5 * hourMs);
  resume();
  // What is made up for ends just before the next run does: they are told one by one.
  await passTo(clock.now() + hourMs, minuteMs);
  await passTo(endAt);

  const cronJobs = await readRows(
    rig.store,
    'select id, uid_text, namespace, name, created_at from cronjobs order by id',
  );
  const ids = cronJobs.map(({ id }) => Number(id));
  const { of: histories, isWhole } = await readHistories(rig.store, ids, { from: startAt - dayMs, mostRows: 100_000 });
  assert.ok(isWhole);
  const epochs = await listSpecEpochs(rig.store, ids);
  const skewP99Ms = await findStartSkew(rig.store);
  const kinds = new Set<string>();
  for (const row of cronJobs) {
    const id = Number(row['id']);
    const name = String(row['name']);
    const monitor = monitors.find((one) => one.name === name);
    const decoded = decodeMonitorSpec({ spec: monitor?.spec }, previewDefaults, {});
    assert.ok(decoded.ok);
    const own = epochs.get(id) ?? [];
    const timeZone = own.at(-1)?.timeZone ?? 'UTC';
    const said = { labels: {}, annotations: {} };
    const settings = effectiveOf(
      { namespace: 'default', name, spec: decoded.spec },
      { namespace: 'default', name, timeZone, cronJob: said, ofNamespace: undefined },
      undefined,
    );
    const rules = { detection: detectionRulesOf(settings.spec, timeZone), alerts: alertRulesOf(settings) };
    const previewed = previewCronJob(
      rules,
      {
        uid: String(row['uid_text']),
        namespace: 'default',
        name,
        createdAt: Number(row['created_at']),
        timeZone,
        epochs: own,
        ...(histories.get(id) ?? { runs: [], slots: [], lastSuccessBeforeAt: undefined }),
      },
      { fromAt: startAt, toAt: clock.now(), skewP99Ms },
    );
    if (name === 'backup') {
      const [first, ...others] = previewed.filter(({ subject }) => subject === 'output');
      assert.deepEqual(
        [first?.subject, first?.severity, first?.channels, others.length],
        ['output', 'critical', ['hook', 'pager'], 0],
      );
      assert.match(first?.message ?? '', / rows 0 \(minimum 1\)/);
      const ends = (histories.get(id)?.runs ?? []).filter(({ values }) => values?.get('rows') === 0);
      assert.equal(ends.length, emptyBackups);
      assert.equal(first?.activatedAt, ends[0]?.finishedAt, 'told at the first');
      assert.ok(first?.endedAt !== undefined && first.endedAt > (ends.at(-1)?.finishedAt ?? 0));
    }
    const there = await readRows(
      rig.store,
      'select a.id, a.type, a.subject, a.severity, a.since_at, a.activated_at, a.ended_at, a.state from alerts a ' +
        "where a.cronjob_id = ? and a.activated_at is not null and a.state <> 'cancelled' order by a.since_at, a.type, a.subject",
      [id],
    );
    const told = await readRows(
      rig.store,
      "select alert_id, channel_name from deliveries where kind in ('firing', 'reminder', 'flapping') and state = 'sent'",
    );
    const channelsOf = (alertId: unknown): string[] => [
      ...new Set(
        told
          .filter(
            (delivery) => rig.store.dialect.id16Text(delivery['alert_id']) === rig.store.dialect.id16Text(alertId),
          )
          .map((delivery) => String(delivery['channel_name'])),
      ),
    ];
    const expected = there.map((alert) =>
      words({
        type: String(alert['type']),
        subject: alert['subject'] as string | null,
        severity: String(alert['severity']),
        sinceAt: Number(alert['since_at']),
        isOpen: alert['ended_at'] === null,
        channels: channelsOf(alert['id']).sort(),
      }),
    );
    for (const { type, subject } of there)
      kinds.add([type, subject].filter((word): word is string => typeof word === 'string').join('/'));
    const found = previewed.map(({ subject, endedAt, ...alert }) =>
      words({ ...alert, subject: subject ?? null, isOpen: endedAt === undefined }),
    );
    assert.deepEqual(found.sort(), expected.sort(), name);
    // The ends are noticed within a step of the virtual time, of alerts over a window within their two looks.
    for (const alert of previewed) {
      const same = there.find(
        (one) =>
          one['type'] === alert.type &&
          Number(one['since_at']) === alert.sinceAt &&
          (one['subject'] ?? undefined) === alert.subject,
      );
      const endedAt = same?.['ended_at'];
      if (alert.endedAt === undefined || typeof endedAt !== 'number') continue;
      assert.ok(
        Math.abs(alert.endedAt - endedAt) <= 2 * stepMs,
        `${name}: ${alert.type} ${alert.subject ?? ''} of ${at(alert.sinceAt)} ended ${at(endedAt)}, the preview says ${at(alert.endedAt)}`,
      );
    }
  }
  for (const kind of [
    'jobFailed',
    'missedSchedule',
    'deadManTriggered',
    'jobSuspended',
    'slaBreached/successRate',
    'slaBreached/maxDuration',
    'slaBreached/minDuration',
    'slaBreached/finishBy',
  ])
    assert.ok(kinds.has(kind), `${kind} was among the alerts of the week`);
});

const at = (instant: number): string => new Date(instant).toISOString().slice(5, 19);

function words(alert: {
  readonly type: string;
  readonly subject: string | null;
  readonly severity: string;
  readonly sinceAt: number;
  readonly isOpen: boolean;
  readonly channels: readonly string[];
}): string {
  const { type, subject, severity, sinceAt, isOpen, channels } = alert;
  return `${at(sinceAt)} ${type}${subject === null ? '' : `/${subject}`} ${severity} ${isOpen ? 'open' : 'over'} ${channels.join(' ')}`;
}
