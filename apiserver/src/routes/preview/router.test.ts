import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LimitSuggestions, MonitorPreview } from '@cronjob-monitor/shared/contract';
import { addChannel } from '../../testing/alerts.ts';
import { testNow } from '../../testing/api.ts';
import { startFleet, type TestFleet } from '../../testing/fleet.ts';
import { dayMs, hourMs } from '@cronjob-monitor/shared/domain';

const path = '/api/v1/monitors/preview';
const failed = { status: 'failed', exitCode: 137, reason: 'OOMKilled' } as const;

async function aFleet(fleet: TestFleet): Promise<void> {
  const backup = await fleet.addCronJob({ name: 'backup', schedule: '30 2 * * *' });
  const etl = await fleet.addCronJob({ name: 'etl', namespace: 'data' });
  await fleet.addMonitor({ spec: {} }, [backup, etl]);
  const days = [6, 5, 4, 3, 2, 1].map((day) => ({ createdAt: testNow - day * dayMs }));
  await fleet.addRuns(
    backup,
    ...days.slice(0, 4),
    { createdAt: testNow - 2 * dayMs + hourMs, ...failed },
    ...days.slice(5),
  );
}

async function preview(fleet: TestFleet, body: object): Promise<MonitorPreview> {
  const answer = await fleet.ask(path, { method: 'POST', body });
  assert.equal(answer.status, 200, answer.text);
  return answer.json() as MonitorPreview;
}

const alerting = { channelRefs: [{ name: 'team-chat' }] };

test('tells the alerts that there would have been, with their ends and channels', async () => {
  await using fleet = await startFleet();
  await aFleet(fleet);
  await addChannel(fleet, { name: 'team-chat' });
  const told = await preview(fleet, { namespace: 'prod', spec: { alerting }, days: 10 });
  assert.equal(told.valid, true);
  assert.deepEqual(told.cronJobs, {
    matched: 1,
    withHistory: 1,
    items: [{ namespace: 'prod', name: 'backup' }],
    omitted: 0,
  });
  assert.deepEqual(told.alerts.byType, { jobFailed: 1 });
  const [alert] = told.alerts.items;
  assert.deepEqual(
    [alert?.type, alert?.severity, alert?.cronjob.name, alert?.channels],
    ['jobFailed', 'warning', 'backup', ['team-chat']],
  );
  assert.ok(Date.parse(alert?.endedAt ?? '') > Date.parse(alert?.since ?? ''));
  assert.equal(Date.parse(told.to) - Date.parse(told.from), 10 * dayMs);
  assert.deepEqual([told.truncated, told.alerts.omitted], [false, 0]);
});

test('another rule tells other alerts of the same runs, and what is wrong with it', async () => {
  await using fleet = await startFleet();
  await aFleet(fleet);
  const deadManSwitch = { enabled: true, maxTimeSinceLastSuccess: '20h' };
  const told = await preview(fleet, {
    namespace: 'prod',
    spec: { deadManSwitch, jobFailed: { enabled: false } },
    days: 10,
  });
  assert.ok((told.alerts.byType.deadManTriggered ?? 0) >= 3, JSON.stringify(told.alerts.byType));
  assert.equal(told.alerts.byType.jobFailed, undefined);
  const finding = told.findings.find(({ code }) => code === 'DeadManShorterThanPeriod');
  assert.equal(finding?.path, 'spec.deadManSwitch.maxTimeSinceLastSuccess');
  assert.match(finding.message, /^prod\/backup: /);
});

test('a spec that the schema refuses is not valid, and says where', async () => {
  await using fleet = await startFleet();
  await aFleet(fleet);
  const told = await preview(fleet, { namespace: 'prod', spec: { sla: { minSuccessRate: 'high' } } });
  assert.equal(told.valid, false);
  const finding = told.findings.find(({ level }) => level === 'error');
  assert.deepEqual([finding?.code, finding?.path], ['schema', 'spec.sla.minSuccessRate']);
});

test('a field that the schema does not have is named at its path, with what may stand there', async () => {
  await using fleet = await startFleet();
  await aFleet(fleet);
  const spec = { selector: { matchLabel: { team: 'data' } }, sla: { windowDay: 7 }, alerting };
  const told = await preview(fleet, { namespace: 'prod', spec });
  assert.equal(told.valid, false);
  assert.deepEqual(
    told.findings.filter(({ code }) => code === 'schema').map(({ path, message }) => `${path} ${message}`),
    [
      'spec.selector.matchLabel is no field, and is dropped; did you mean matchLabels?',
      'spec.sla.windowDay is no field, and is dropped; did you mean windowDays?',
    ],
  );
});

test('names of CronJobs and namespaces narrow it; labels are those of the monitor that it would replace', async () => {
  await using fleet = await startFleet();
  await aFleet(fleet);
  const matched = async (spec: object, name?: string): Promise<string[]> => {
    const told = await preview(fleet, { namespace: 'prod', spec, ...(name !== undefined && { name }) });
    return told.cronJobs.items.map((one) => `${one.namespace}/${one.name}`).sort();
  };
  assert.deepEqual(await matched({ selector: { matchNames: ['other'] } }), []);
  assert.deepEqual(await matched({ selector: { allNamespaces: true } }), ['data/etl', 'prod/backup']);
  assert.deepEqual(await matched({ selector: { namespaces: ['data'] } }), ['data/etl']);
  const labels = { selector: { matchLabels: { tier: 'backup' } } };
  assert.deepEqual(await matched(labels), []);
  assert.deepEqual(await matched(labels, 'dr'), ['data/etl', 'prod/backup']);
});

test('a monitor with fallback would be given what no other monitor selects', async () => {
  await using fleet = await startFleet();
  const [own, free] = [await fleet.addCronJob({ name: 'own' }), await fleet.addCronJob({ name: 'free' })];
  const fallback = { selector: { allNamespaces: true, fallback: true } };
  await fleet.addMonitor({ name: 'dr', spec: {} }, [own]);
  await fleet.addMonitor({ name: 'default', spec: fallback }, [free]);
  for (const name of [undefined, 'default']) {
    const body = { namespace: 'prod', spec: fallback, ...(name && { name }) };
    const preview = (await fleet.ask(path, { method: 'POST', body })).json() as MonitorPreview;
    assert.deepEqual(preview.cronJobs.items, [{ namespace: 'prod', name: 'free' }]);
  }
});

test('names what is wrong with the question, and writes nothing', async () => {
  await using fleet = await startFleet();
  for (const [body, field] of [
    [{ spec: {} }, 'namespace'],
    [{ namespace: 'prod' }, 'spec'],
    [{ namespace: 'prod', spec: 'x' }, 'spec'],
    [{ namespace: 'prod', spec: {}, days: 31 }, 'days'],
    [{ namespace: 'PROD', spec: {} }, 'namespace'],
    [{ namespace: 'prod', spec: {}, day: 1 }, 'day'],
  ] as const) {
    const answer = await fleet.ask(path, { method: 'POST', body });
    assert.equal(answer.status, 400, JSON.stringify(body));
    assert.equal(answer.error().details?.problems?.[0]?.field, field, answer.text);
  }
});

test('what owners say is replayed: their limits, their channels, and that they are left out', async () => {
  await using fleet = await startFleet();
  const annotations = { 'max-duration': '30s', severity: 'slaBreached=critical', channel: 'own' } as const;
  const slow = await fleet.addCronJob({ name: 'slow', annotations });
  const left = await fleet.addCronJob({ name: 'left', annotations: { ignore: 'true' } });
  await fleet.addMonitor({ spec: {} }, [slow, left]);
  await addChannel(fleet, { name: 'own', spec: { type: 'chat', allowedNamespaces: ['prod'] } });
  const createdAt = testNow - dayMs;
  await fleet.addRuns(slow, { createdAt, startedAt: createdAt, finishedAt: createdAt + 60_000 });
  const told = await preview(fleet, { namespace: 'prod', spec: { alerting: {} }, days: 10 });
  assert.deepEqual(told.cronJobs.items, [{ namespace: 'prod', name: 'slow' }]);
  assert.deepEqual(
    told.alerts.items.map(({ type, subject, severity, channels }) => [type, subject, severity, channels]),
    [['slaBreached', 'maxDuration', 'critical', ['own']]],
  );
  const refusing = { 'max-duration': '30s', channel: 'own', grace: '5' } as const;
  await fleet.addCronJob({ ...slow, annotations: refusing });
  await addChannel(fleet, { name: 'own', spec: { type: 'chat' } });
  const refused = await preview(fleet, { namespace: 'prod', spec: { alerting: {} }, days: 10 });
  assert.deepEqual(refused.alerts.items[0]?.channels, [], 'the channel admits no annotation');
  const found = refused.findings.map(({ code, message }) => `${code}: ${message}`);
  assert.ok(found.includes('AnnotationInvalid: prod/slow: grace: 5 is no duration; such as 5m'), found.join('\n'));
  assert.ok(found.includes('ChannelUnknown: channel own: it does not admit who names it'), found.join('\n'));
});

test('what came of the rules stands beside what those in force come to, with a lane, its values and a patch', async () => {
  await using fleet = await startFleet();
  await aFleet(fleet);
  const wished = { deadManSwitch: { enabled: true, maxTimeSinceLastSuccess: '20h' }, jobFailed: { enabled: false } };
  const told = await preview(fleet, { namespace: 'prod', name: 'dr', spec: wished, days: 10 });
  assert.deepEqual(told.now, { true: 1, false: 0, missed: 0 }, 'the failed run is told now');
  assert.ok(told.truth.true > 0 && told.truth.false > 0, JSON.stringify(told.truth));
  assert.match(told.words, /^These rules raise \d+ alerts in 10 days, \d+ true, \d+ false/);
  const ofAlerts = told.alerts.items.map(({ type, change, truth }) => ({ type, change, truth }));
  assert.ok(ofAlerts.every(({ type, change }) => type === 'deadManTriggered' && change === 'new'));
  assert.deepEqual(
    told.gone.map(({ type, change, truth }) => [type, change, truth]),
    [['jobFailed', 'gone', true]],
  );
  const [lane] = told.lanes;
  assert.deepEqual([lane?.cronjob.name, lane?.words], ['backup', '6 runs, 1 failed']);
  assert.equal(
    lane?.cells.reduce((sum, { ok }) => sum + ok, 0),
    5,
  );
  assert.deepEqual(
    told.histograms.map(({ path }) => path),
    [
      'spec.deadManSwitch.maxTimeSinceLastSuccess',
      'spec.sla.maxDuration',
      'spec.sla.minSuccessRate',
      'spec.missedSchedule.grace',
    ],
  );
  assert.match(told.patch?.diff ?? '', /^\+ {4}maxTimeSinceLastSuccess: 20h$/m);
  assert.match(told.patch?.command ?? '', /^kubectl -n prod patch cronjobmonitor dr --type merge -p '\{"spec":/);
});

test('a run that no rule tells is missed out, and named', async () => {
  await using fleet = await startFleet();
  await aFleet(fleet);
  const told = await preview(fleet, { namespace: 'prod', spec: { jobFailed: { enabled: false } }, days: 10 });
  assert.deepEqual([told.truth, told.now, told.patch, told.gone], [{ true: 0, false: 0, missed: 1 }, null, null, []]);
  assert.deepEqual(
    told.missed.map(({ cronjob }) => cronjob.name),
    ['backup'],
  );
  assert.equal(told.words, 'These rules raise no alert in 10 days and miss 1 run that went wrong');
});

test('rules in force with another selection are replayed on their own CronJobs', async () => {
  await using fleet = await startFleet();
  await aFleet(fleet);
  const told = await preview(fleet, { namespace: 'prod', name: 'dr', spec: { selector: { matchNames: ['other'] } } });
  assert.deepEqual(
    [told.truth, told.now],
    [
      { true: 0, false: 0, missed: 0 },
      { true: 1, false: 0, missed: 0 },
    ],
  );
});

test('limits are suggested from the stored runs of a monitor that is there, beside those in force', async () => {
  await using fleet = await startFleet();
  await aFleet(fleet);
  const suggest = (body: object) => fleet.ask('/api/v1/monitors/suggest', { method: 'POST', body });
  const answer = await suggest({ namespace: 'prod', name: 'dr' });
  assert.equal(answer.status, 200, answer.text);
  const { items } = answer.json() as LimitSuggestions;
  const longest = items.find(({ path }) => path === 'spec.sla.maxDuration');
  assert.deepEqual([longest?.now, longest?.runs], [null, 5]);
  assert.match(longest?.why ?? '', /^p99 of 5 runs of prod\/backup is /);
  assert.equal((await suggest({ namespace: 'prod', name: 'none' })).status, 404);
  assert.equal((await suggest({ namespace: 'prod' })).status, 400);
});
