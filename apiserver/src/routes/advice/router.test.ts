import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Advice, AdviceList, CronJobDetail } from '@cronjob-monitor/shared/contract';
import { type LintFinding, dayMs, hourMs } from '@cronjob-monitor/shared/domain';
import { findMonitor, projectCronJob, putFindings, type MonitorProjection } from '@cronjob-monitor/shared/store';
import { addAlert, addChannel } from '../../testing/alerts.ts';
import { testNow } from '../../testing/api.ts';
import { startFleet, type TestFleet } from '../../testing/fleet.ts';
import { ReviewingCluster } from '../../testing/reviewing-cluster.ts';

const failed = { status: 'failed', exitCode: 137, reason: 'OOMKilled' } as const;

function aFinding(changes: Partial<LintFinding> = {}): LintFinding {
  return {
    code: 'DeadManShorterThanPeriod',
    level: 'warning',
    path: 'spec.deadManSwitch.maxTimeSinceLastSuccess',
    cronJob: { namespace: 'prod', name: 'backup' },
    message: '25h is no longer than its period, 168h',
    mend: '192h',
    ...changes,
  };
}

async function keep(fleet: TestFleet, { uid: monitorUid }: MonitorProjection, ...findings: LintFinding[]) {
  await fleet.store.fenced(fleet.epoch, (tx) => putFindings(tx, { monitorUid, findings, omitted: 0 }));
}

async function advice(fleet: TestFleet, query = ''): Promise<AdviceList> {
  const answer = await fleet.ask(`/api/v1/advice${query}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.json() as AdviceList;
}

const codesOf = ({ items }: AdviceList): string[] => items.map(({ code }) => code);
const spec = { alerting: { channelRefs: [{ name: 'chat' }] } };

/** A weekly CronJob that a channel hears of, and one that failed for want of memory. */
async function aFleet(fleet: TestFleet): Promise<MonitorProjection> {
  await addChannel(fleet, { name: 'chat' });
  const backup = await fleet.addCronJob({ name: 'backup', schedule: '0 2 * * 1', timeZone: 'UTC' });
  const report = await fleet.addCronJob({ name: 'report' });
  const monitor = await fleet.addMonitor({ spec }, [backup, report]);
  await fleet.addRuns(backup, { createdAt: testNow - dayMs });
  await fleet.addRuns(report, { createdAt: testNow - hourMs, ...failed });
  return monitor;
}

test('what quotes a name or a value has it as it is written', async () => {
  await using fleet = await startFleet();
  const monitor = await aFleet(fleet);
  const said: readonly (readonly [LintFinding['code'], string])[] = [
    ['AnnotationInvalid', 'grace: 5 is no duration; such as 5m'],
    ['DependencyUnknown', 'shop/import: there is no such CronJob'],
    ['DependencyCycle', 'prod/backup → prod/backup: none of these waits for the next'],
    ['WindowStaysOpen', 'storage: each occurrence begins before the one before it is over'],
  ];
  await keep(fleet, monitor, ...said.map(([code, message]) => aFinding({ code, message, mend: undefined })));
  const { items } = await advice(fleet, `?code=${said.map(([code]) => code).join(',')}`);
  assert.deepEqual(new Map(items.map(({ code, words }) => [code, words])), new Map(said));
});

test('a finding has its sentence, what came of it, the field and a command that mends it', async () => {
  await using fleet = await startFleet();
  await addChannel(fleet, { name: 'chat' });
  const monitor = await fleet.addMonitor({ spec }, [
    await fleet.addCronJob({ name: 'backup', schedule: '0 2 * * 1', timeZone: 'UTC' }),
  ]);
  await keep(fleet, monitor, aFinding());
  const monday = Date.UTC(2026, 10, 16, 3);
  for (const weeks of [0, 1, 2])
    await addAlert(fleet, {
      type: 'deadManTriggered',
      severity: 'critical',
      state: 'resolved',
      sinceAt: monday - weeks * 7 * dayMs,
      activatedAt: monday - weeks * 7 * dayMs,
      endedAt: monday - weeks * 7 * dayMs + hourMs,
      fingerprint: `0000000000000000000000000000000${weeks}`,
    });
  const { items } = await advice(fleet, '?code=DeadManShorterThanPeriod');
  assert.deepEqual(items, [
    {
      code: 'DeadManShorterThanPeriod',
      level: 'warning',
      words: '25 h is no longer than its period, 7 d',
      impact: 'critical each Monday; 3 alerts in 30 days',
      cronjob: { namespace: 'prod', name: 'backup' },
      monitor: { namespace: 'prod', name: 'dr' },
      path: 'spec.deadManSwitch.maxTimeSinceLastSuccess',
      href: '/monitors/prod/dr?part=rules#spec.deadManSwitch.maxTimeSinceLastSuccess',
      alerts30d: 3,
      patch: `kubectl -n prod patch cronjobmonitor dr --type merge -p '{"spec":{"deadManSwitch":{"maxTimeSinceLastSuccess":"192h"}}}'`,
      leave:
        'kubectl -n prod annotate cronjob backup --overwrite cronjob-monitor.io/advice-ignore=DeadManShorterThanPeriod',
      ignored: false,
    } satisfies Advice,
  ]);
});

test('a limit that several CronJobs share is patched to what suits all of them', async () => {
  await using fleet = await startFleet();
  const monitor = await aFleet(fleet);
  const other = { cronJob: { namespace: 'prod', name: 'report' } };
  const slow = { code: 'MaxDurationUnreachable', path: 'spec.sla.maxDuration' } as const;
  await keep(
    fleet,
    monitor,
    aFinding(),
    aFinding({ ...slow, mend: '45m' }),
    aFinding({ ...slow, ...other, mend: '2h' }),
  );
  const { items } = await advice(fleet, '?monitor=prod/dr&level=warning');
  const patched = items.map(({ patch }) => patch?.replace(/^.* -p /, ''));
  assert.deepEqual(patched, [
    `'{"spec":{"deadManSwitch":{"maxTimeSinceLastSuccess":null,"autoFromSchedule":{"enabled":true}}}}'`,
    `'{"spec":{"sla":{"maxDuration":"2h"}}}'`,
    `'{"spec":{"sla":{"maxDuration":"2h"}}}'`,
  ]);
});

test('a field of a CronJob is patched there, and a finding about the monitor names none', async () => {
  await using fleet = await startFleet();
  const monitor = await aFleet(fleet);
  const path = 'spec.jobTemplate.spec.activeDeadlineSeconds';
  await keep(
    fleet,
    monitor,
    aFinding({ code: 'ForbidWithoutDeadline', path, mend: 600 }),
    aFinding({ code: 'SelectorEmpty', path: 'spec.selector', cronJob: undefined, mend: undefined }),
  );
  const { items } = await advice(fleet, '?code=ForbidWithoutDeadline,SelectorEmpty');
  assert.deepEqual(
    items.map(({ cronjob, href, patch }) => [cronjob?.name, href, patch]),
    [
      [
        'backup',
        '/cronjobs/prod/backup?part=rules',
        `kubectl -n prod patch cronjob backup --type merge -p '{"spec":{"jobTemplate":{"spec":{"activeDeadlineSeconds":600}}}}'`,
      ],
      [undefined, '/monitors/prod/dr?part=rules#spec.selector', null],
    ],
  );
});

test('what the last runs say and whose failures nothing tells stand beside the settings, the worst first', async () => {
  await using fleet = await startFleet();
  await aFleet(fleet);
  const alone = await fleet.addCronJob({ name: 'alone' });
  await fleet.addMonitor({ name: 'deaf', spec: {} }, [alone]);
  const list = await advice(fleet);
  assert.deepEqual(
    list.items.map(({ code, cronjob }) => [code, cronjob?.name]),
    [
      ['NotHeard', 'alone'],
      ['OutOfMemory', 'report'],
      ['NeverSucceeded', 'report'],
    ],
  );
  const [unheard, killed, never] = list.items;
  assert.match(unheard?.words ?? '', /^If it fails, no channel is told: /);
  assert.match(killed?.words ?? '', /^The last run failed \{ago:[^}]+\}: .+/);
  assert.match(never?.words ?? '', /^No run has succeeded; the last one failed \{ago:/);
  assert.equal(list.counts.findings, 3);
  assert.deepEqual(
    list.counts.kinds.map(({ code, findings }) => [code, findings]),
    [
      ['NotHeard', 1],
      ['OutOfMemory', 1],
      ['NeverSucceeded', 1],
    ],
  );
});

test('a CronJob that is suspended for long is a note, until a rule of its monitor says when that is too long', async () => {
  await using fleet = await startFleet();
  await addChannel(fleet, { name: 'chat' });
  const seen = { seenAt: testNow - 60 * dayMs };
  const since = testNow - 41 * dayMs;
  const lastWriter = { manager: 'kubectl-edit', operation: 'Update', at: since };
  const old = await fleet.addCronJob({ name: 'backup' }, seen);
  const brief = await fleet.addCronJob({ name: 'brief' }, seen);
  const suspend = (facts: typeof old, at: number): Promise<unknown> =>
    fleet.store.fenced(fleet.epoch, (tx) =>
      projectCronJob(tx, {
        facts: { ...facts, suspended: true, generation: 2, lastWriter },
        seenAt: at,
        changedAt: at,
      }),
    );
  await suspend(old, since);
  await suspend(brief, testNow - dayMs);
  await fleet.addMonitor({ spec }, [old, brief]);
  const { items } = await advice(fleet, '?code=SuspendedLong');
  const begun = `Suspended by kubectl-edit at {at:${new Date(since).toISOString()}}`;
  assert.deepEqual(
    items.map(({ level, words, cronjob, patch, href }) => [level, words, cronjob?.name, patch, href]),
    [
      [
        'note',
        `${begun}; no rule of its monitor says when that is too long`,
        'backup',
        `kubectl -n prod patch cronjobmonitor dr --type merge -p '{"spec":{"suspendedHandling":{"alertIfSuspendedFor":"30d"}}}'`,
        '/monitors/prod/dr?part=rules#spec.suspendedHandling.alertIfSuspendedFor',
      ],
    ],
  );
  await fleet.addMonitor({ spec: { ...spec, suspendedHandling: { alertIfSuspendedFor: '30d' } } }, [old, brief]);
  assert.deepEqual((await advice(fleet, '?code=SuspendedLong')).items, []);
});

test('a time zone that does not exist is told before a check of its monitor, with the one that was meant', async () => {
  await using fleet = await startFleet();
  const wrong = await fleet.addCronJob({ name: 'wrong', timeZone: 'Europe/Zuerich' }, { problem: 'unknownZone' });
  const prefixed = await fleet.addCronJob({ name: 'prefixed', schedule: 'TZ=Asia/Tokyo 0 2 * * *' });
  await fleet.addMonitor({ spec }, [wrong, prefixed]);
  await fleet.addRuns(wrong, { createdAt: testNow - dayMs });
  await fleet.addRuns(prefixed, { createdAt: testNow - dayMs });
  const { items } = await advice(fleet, '?code=ZoneUnknown,ZoneInSchedule');
  assert.deepEqual(
    items.map(({ level, cronjob, words, patch }) => [level, cronjob?.name, words, patch]),
    [
      [
        'error',
        'wrong',
        '"Europe/Zuerich" is no time zone; did you mean Europe/Zurich?',
        `kubectl -n prod patch cronjob wrong --type merge -p '{"spec":{"timeZone":"Europe/Zurich"}}'`,
      ],
      [
        'warning',
        'prefixed',
        'TZ=Asia/Tokyo in the schedule decides when it runs; Kubernetes refuses it in new CronJobs: use spec.timeZone',
        null,
      ],
    ],
  );
  const { findings } = ((await fleet.ask('/api/v1/cronjobs/prod/prefixed')).json() as CronJobDetail).verdict;
  assert.deepEqual(
    findings.map(({ code, href }) => [code, href]),
    [['ZoneInSchedule', null]],
  );
});

test('a finding that its owner leaves is counted apart and shown on wish', async () => {
  await using fleet = await startFleet();
  const monitor = await aFleet(fleet);
  await keep(fleet, monitor, aFinding({ isLeft: true }));
  const quiet = await fleet.addCronJob({ name: 'quiet', notes: { adviceIgnore: 'NotHeard, Other' } });
  await fleet.addMonitor({ name: 'deaf', spec: {} }, [quiet]);
  const { counts, ...list } = await advice(fleet);
  assert.deepEqual([codesOf({ ...list, counts }).sort(), counts.ignored], [['NeverSucceeded', 'OutOfMemory'], 2]);
  const left = await advice(fleet, '?ignored=true');
  assert.deepEqual(codesOf(left), ['NotHeard', 'DeadManShorterThanPeriod']);
  assert.match(left.items[0]?.leave ?? '', /advice-ignore=NotHeard,Other$/);
});

test('monitors count their findings, without notes and what is left', async () => {
  await using fleet = await startFleet();
  const monitor = await aFleet(fleet);
  await keep(fleet, monitor, aFinding(), aFinding({ isLeft: true }), aFinding({ code: 'LastLogLost', level: 'note' }));
  const { items } = (await fleet.ask('/api/v1/monitors')).json() as { items: { findings: number }[] };
  assert.deepEqual(
    items.map(({ findings }) => findings),
    [1],
  );
});

test('filters and pages narrow what is listed; what is asked wrongly is refused by its name', async () => {
  await using fleet = await startFleet();
  const monitor = await aFleet(fleet);
  await keep(fleet, monitor, aFinding(), aFinding({ code: 'SlotInDstChange', level: 'note', path: 'spec.schedule' }));
  assert.deepEqual(codesOf(await advice(fleet, '?level=note')), ['SlotInDstChange']);
  assert.deepEqual(codesOf(await advice(fleet, '?cronjob=prod/report')), ['OutOfMemory', 'NeverSucceeded']);
  assert.deepEqual(codesOf(await advice(fleet, '?monitor=prod/dr&level=warning')), ['DeadManShorterThanPeriod']);
  assert.deepEqual(codesOf(await advice(fleet, '?namespace=dev')), []);
  const { items, pagination } = await advice(fleet, '?limit=1&offset=1');
  assert.deepEqual([items.length, pagination?.total, pagination?.hasMore], [1, 4, true]);
  for (const [query, field] of [
    ['level=bad', 'level'],
    ['cronjob=x', 'cronjob'],
    ['offset=1', 'offset'],
  ] as const) {
    const answer = await fleet.ask(`/api/v1/advice?${query}`);
    assert.equal(answer.error().details?.problems?.[0]?.field, field, answer.text);
  }
});

test('findings about a monitor are told to those who may read it, those about a CronJob to those who may read that', async () => {
  const cluster = new ReviewingCluster()
    .grant('runs', 'list cronjobs in prod')
    .grant('rules', 'list cronjobs in prod', 'list cronjobmonitors in prod')
    .grant('others', 'list cronjobs in dev', 'list cronjobmonitors in dev');
  await using fleet = await startFleet({ settings: { authMode: 'token' }, cluster: cluster.asCluster() });
  const monitor = await aFleet(fleet);
  await keep(
    fleet,
    monitor,
    aFinding(),
    aFinding({ code: 'SelectorEmpty', path: 'spec.selector', cronJob: undefined }),
  );
  const codes = async (token: string): Promise<string[]> => {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fleet.ask('/api/v1/advice?code=DeadManShorterThanPeriod,SelectorEmpty', { headers });
    return codesOf(answer.json() as AdviceList);
  };
  assert.deepEqual(await codes('runs'), ['DeadManShorterThanPeriod']);
  assert.deepEqual(await codes('rules'), ['DeadManShorterThanPeriod', 'SelectorEmpty']);
  assert.deepEqual(await codes('others'), []);
  assert.ok((await findMonitor(fleet.store, { namespace: 'prod', name: 'dr' })).monitor);
});
