import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  alertTypes,
  routeStepKinds,
  type AlertRoute,
  type CoverageList,
  type CronJobCoverage,
  type CronJobDetail,
  type CronJobRoutes,
} from '@cronjob-monitor/shared/contract';
import { putClusterState } from '@cronjob-monitor/shared/store';
import { addAlert, addChannel } from '../../testing/alerts.ts';
import { testNow } from '../../testing/api.ts';
import { startFleet, type TestFleet } from '../../testing/fleet.ts';
import { ReviewingCluster } from '../../testing/reviewing-cluster.ts';
import { dayMs, hourMs } from '@cronjob-monitor/shared/domain';

const path = '/api/v1/coverage';
const switchOn = { deadManSwitch: { autoFromSchedule: { enabled: true } } };
const to = (...names: string[]) => ({
  ...switchOn,
  alerting: { enabled: true, channelRefs: names.map((name) => ({ name })) },
});

/** A channel that accepted a message so long ago. */
async function accepts(fleet: TestFleet, name: string, agoMs = hourMs): Promise<void> {
  await addChannel(fleet, { name });
  await fleet.store
    .sql('channels')
    .where({ name })
    .update({ last_sent_at: testNow - agoMs });
}

async function coverage(fleet: TestFleet, query = ''): Promise<CoverageList> {
  const answer = await fleet.ask(path + query);
  assert.equal(answer.status, 200, answer.text);
  return answer.json() as CoverageList;
}

const states = ({ items }: CoverageList): Record<string, string> =>
  Object.fromEntries(items.map(({ namespace, name, state }) => [`${namespace}/${name}`, state]));
const reasons = ({ types }: CronJobCoverage): unknown => types.map(({ type, state, reason }) => [type, state, reason]);

/** One CronJob in each state. */
async function sixCronJobs(): Promise<TestFleet> {
  const fleet = await startFleet();
  await accepts(fleet, 'team-chat');
  await accepts(fleet, 'old', 40 * dayMs);
  await addChannel(fleet, { name: 'broken', ready: false, reason: 'SecretNotFound' });
  for (const [name, spec] of Object.entries({
    heard: to('broken', 'team-chat'),
    quiet: to('old'),
    broken: to('broken'),
    mute: switchOn,
    off: { ...to('team-chat'), missedSchedule: { enabled: false } },
  })) {
    await fleet.addMonitor({ name, spec }, [await fleet.addCronJob({ name })]);
  }
  await fleet.store.fenced(fleet.epoch, (tx) =>
    putClusterState(tx, 'unwatched', {
      total: 3,
      byNamespace: { dev: 1, prod: 2 },
      names: ['dev/a', 'prod/b'],
      ignored: { prod: 2, dev: 1 },
    }),
  );
  return fleet;
}

test('names the state of each CronJob, worst first, and counts without rounding up', async () => {
  await using fleet = await sixCronJobs();
  const found = await coverage(fleet);
  assert.deepEqual(states(found), {
    'dev/a': 'unwatched',
    'prod/b': 'unwatched',
    'prod/off': 'off',
    'prod/mute': 'nobody',
    'prod/broken': 'unreachable',
    'prod/quiet': 'unproved',
    'prod/heard': 'reached',
  });
  assert.deepEqual(
    found.items.map(({ state }) => state),
    ['unwatched', 'unwatched', 'off', 'nobody', 'unreachable', 'unproved', 'reached'],
  );
  assert.deepEqual(found.summary, {
    cronJobs: 8,
    covered: 1,
    percent: 12.5,
    byState: { unwatched: 3, off: 1, nobody: 1, unreachable: 1, unproved: 1, reached: 1 },
    unnamed: 1,
    ignored: 3,
  });
  assert.equal((await coverage(fleet, '?namespace=prod')).summary.ignored, 2, 'what is left out stands apart');
  const two = await coverage(fleet, '?search=quiet&days=365');
  assert.equal(two.summary.percent, 100, 'forty days ago is within a year');
  const third = await coverage(fleet, '?types=jobFailed&namespace=prod&search=h');
  assert.deepEqual(states(third), { 'prod/heard': 'reached' });
});

test('41 of 42 are 97.61 percent', async () => {
  await using fleet = await startFleet();
  await accepts(fleet, 'team-chat');
  const cronJobs = [];
  for (let index = 0; index < 41; index += 1) cronJobs.push(await fleet.addCronJob({ name: `c${index}` }));
  await fleet.addMonitor({ spec: to('team-chat') }, cronJobs);
  await fleet.addMonitor({ name: 'mute', spec: switchOn }, [await fleet.addCronJob({ name: 'backup' })]);
  const { summary, items } = await coverage(fleet, '?limit=1');
  assert.deepEqual([summary.cronJobs, summary.covered, summary.percent], [42, 41, 97.61]);
  assert.deepEqual(
    [items.map(({ name }) => name), items[0] && reasons(items[0])],
    [
      ['backup'],
      [
        ['jobFailed', 'nobody', 'alertingDisabled'],
        ['missedSchedule', 'nobody', 'alertingDisabled'],
        ['deadManTriggered', 'nobody', 'alertingDisabled'],
      ],
    ],
  );
});

test('says why: of each type the best monitor and channel count', async () => {
  await using fleet = await startFleet();
  await accepts(fleet, 'team-chat');
  await accepts(fleet, 'held');
  await fleet.store.sql('channels').where({ name: 'held' }).update({ hold: 'circuit' });
  const one = await fleet.addCronJob({ name: 'backup', notes: { owner: 'team-data' } });
  const onlyCritical = { name: 'team-chat', severities: ['critical'] };
  await fleet.addMonitor({ name: 'a', spec: { ...switchOn, alerting: { channelRefs: [onlyCritical] } } }, [one]);
  const [first] = (await coverage(fleet)).items;
  assert.deepEqual(first && reasons(first), [
    ['jobFailed', 'nobody', 'severityNotRouted'],
    ['missedSchedule', 'nobody', 'severityNotRouted'],
    ['deadManTriggered', 'reached', null],
  ]);
  await fleet.addMonitor({ name: 'b', spec: to('gone', 'held') }, [one]);
  assert.equal(first?.owner, 'team-data');
  const [second] = (await coverage(fleet, '?types=jobFailed')).items;
  assert.deepEqual(second?.types, [
    { type: 'jobFailed', severity: 'warning', state: 'unreachable', channels: ['held'], reason: 'channelHeld' },
  ]);
  await fleet.addMonitor({ name: 'c', spec: to('gone') }, [await fleet.addCronJob({ name: 'lost' })]);
  const lost = (await coverage(fleet, '?search=lost&types=jobFailed')).items[0];
  assert.deepEqual(lost && reasons(lost), [['jobFailed', 'unreachable', 'unknownChannel']]);
});

test('filters by state, monitor, name and namespace, sorts, pages, and gives a table', async () => {
  await using fleet = await sixCronJobs();
  const find = async (query: string): Promise<string[]> =>
    (await coverage(fleet, query)).items.map(({ namespace, name }) => `${namespace}/${name}`);
  assert.deepEqual(await find('?state=nobody,unproved'), ['prod/mute', 'prod/quiet']);
  assert.deepEqual(await find('?monitor=prod/heard'), ['prod/heard'], 'no monitor has those that none selects');
  assert.deepEqual(await find('?namespace=dev'), ['dev/a']);
  assert.equal((await coverage(fleet, '?namespace=dev')).summary.cronJobs, 1);
  assert.deepEqual(await find('?sort=-name&limit=2&offset=1'), ['prod/off', 'prod/mute']);
  assert.equal((await fleet.ask(`${path}?limit=1&format=csv`)).status, 400);
  const csv = await fleet.ask(`${path}?format=csv&search=mute`);
  assert.deepEqual(csv.text.split('\r\n').slice(0, 2), [
    'namespace,name,owner,state,of.type,of.severity,of.state,of.reason,of.channels',
    'prod,mute,,nobody,jobFailed,warning,nobody,alertingDisabled,',
  ]);
  assert.match(String(csv.headers['content-disposition']), /coverage-2026-11-21\.csv/);
  const empty = await coverage(fleet, '?search=none-is-named-so');
  assert.deepEqual([empty.items, empty.summary.percent], [[], null]);
});

test('shows only namespaces that its caller may read, in items and in counts', async () => {
  const cluster = new ReviewingCluster().grant('dev', 'list cronjobs in dev').grant('none');
  await using fleet = await startFleet({ settings: { authMode: 'token' }, cluster: cluster.asCluster() });
  await fleet.addMonitor({ namespace: 'dev', spec: switchOn }, [await fleet.addCronJob({ namespace: 'dev' })]);
  await fleet.addMonitor({ namespace: 'prod', spec: switchOn }, [await fleet.addCronJob({ namespace: 'prod' })]);
  await fleet.store.fenced(fleet.epoch, (tx) =>
    putClusterState(tx, 'unwatched', { total: 9, byNamespace: { dev: 4, prod: 5 }, names: ['dev/a', 'prod/b'] }),
  );
  const as = (token: string, target: string) => fleet.ask(target, { headers: { Authorization: `Bearer ${token}` } });
  const { items, summary } = (await as('dev', path)).json() as CoverageList;
  assert.deepEqual(new Set(items.map(({ namespace }) => namespace)), new Set(['dev']));
  assert.deepEqual([summary.cronJobs, summary.unnamed], [5, 3]);
  const nothing = (await as('none', path)).json() as CoverageList;
  assert.deepEqual([nothing.items, nothing.summary.cronJobs], [[], 0]);
  assert.equal((await as('dev', '/api/v1/cronjobs/prod/backup/route')).status, 403);
});

test('a route says for each monitor and type what would happen now', async () => {
  await using fleet = await startFleet();
  await accepts(fleet, 'team-chat');
  const cronJob = await fleet.addCronJob({ name: 'backup' });
  const spec = { ...to('team-chat', 'gone'), jobFailed: { failureThreshold: 2 } };
  await fleet.addMonitor({ spec }, [cronJob]);
  const ask = async (query = ''): Promise<CronJobRoutes> =>
    (await fleet.ask(`/api/v1/cronjobs/prod/backup/route${query}`)).json() as CronJobRoutes;
  const all = await ask();
  assert.equal(all.routes.length, alertTypes.length);
  assert.equal((await ask('?type=jobFailed,jobFailed')).routes.length, 1, 'a type that is given twice is told once');
  const [failed] = (await ask('?type=jobFailed')).routes;
  assert.deepEqual(failed, {
    monitor: { namespace: 'prod', name: 'dr' },
    type: 'jobFailed',
    opens: false,
    quiet: 'belowThreshold',
    severity: 'warning',
    severitySource: 'default',
    holds: [],
    state: 'reached',
    reason: null,
    channels: [
      {
        name: 'team-chat',
        via: 'channelRefs',
        afterSeconds: 0,
        state: 'reached',
        reason: null,
        at: null,
        words: 'team-chat does not hear',
        rendered: failed?.channels[0]?.rendered,
      },
    ],
    refused: [{ name: 'gone', reason: 'unknownChannel' }],
    words: 'If it failed now, no channel hears: one more failure opens nothing: the monitor asks for 2 failures',
    steps: [
      {
        kind: 'threshold',
        words: 'One more failure opens nothing: the monitor asks for 2 failures',
        at: null,
        effect: 'stop',
        href: '/monitors/prod/dr',
      },
    ],
  });
  await fleet.addRuns(cronJob, { status: 'failed' });
  assert.equal((await ask('?type=jobFailed')).routes[0]?.opens, true);
  await addAlert(fleet, { lastNotifiedAt: testNow - hourMs / 2 });
  assert.deepEqual((await ask('?type=jobFailed')).routes[0]?.holds, [
    { reason: 'duplicate', until: new Date(testNow + hourMs / 2).toISOString(), ref: null },
  ]);
  assert.equal((await ask('?type=slaBreached')).routes[0]?.quiet, 'typeOff');
  assert.equal((await fleet.ask('/api/v1/cronjobs/prod/other/route')).status, 404);
});

test('a CronJob that no monitor selects has no route, and one that is not there is not found', async () => {
  await using fleet = await startFleet();
  await fleet.store.fenced(fleet.epoch, (tx) =>
    putClusterState(tx, 'unwatched', { total: 1, byNamespace: { dev: 1 }, names: ['dev/a'] }),
  );
  const unwatched = await fleet.ask('/api/v1/cronjobs/dev/a/route');
  assert.deepEqual([unwatched.status, (unwatched.json() as CronJobRoutes).routes], [200, []]);
  assert.equal((await fleet.ask('/api/v1/cronjobs/dev/b/route')).status, 404);
});

test('a route says that its message would wait for a CronJob that has an alert which was told', async () => {
  await using fleet = await startFleet();
  await accepts(fleet, 'team-chat');
  const cronJobs = [await fleet.addCronJob({ name: 'load' }), await fleet.addCronJob({ name: 'backup' })];
  await fleet.addMonitor({ spec: to('team-chat') }, cronJobs);
  await fleet.store.sql('cronjobs').where({ name: 'backup' }).update({ depends_on: '["prod/load"]' });
  const holds = async (): Promise<unknown[]> => {
    const answer = await fleet.ask('/api/v1/cronjobs/prod/backup/route?type=jobFailed,deadManTriggered');
    return (answer.json() as CronJobRoutes).routes.map(({ type, holds: found }) => [
      type,
      ...found.map(({ ref }) => ref),
    ]);
  };
  const { id } = await addAlert(fleet, { cronJobName: 'load', lastNotifiedAt: undefined });
  assert.deepEqual(await holds(), [['jobFailed'], ['deadManTriggered']], 'no channel was told of it');
  await fleet.store.sql('alerts').update({ last_notified_at: testNow });
  assert.deepEqual(await holds(), [['jobFailed', id], ['deadManTriggered']], 'a warning holds back no critical alert');
  const detail = (await fleet.ask('/api/v1/cronjobs/prod/backup')).json() as CronJobDetail;
  assert.deepEqual(detail.dependsOn, [{ namespace: 'prod', name: 'load' }]);
});

test('routes and annotations count in coverage and in the route, and a channel that does not admit them refuses', async () => {
  await using fleet = await startFleet();
  await accepts(fleet, 'fixed');
  await accepts(fleet, 'own');
  const admit = (allowedNamespaces?: readonly string[]) =>
    fleet.store
      .sql('channels')
      .where({ name: 'own' })
      .update({ spec: JSON.stringify({ allowedNamespaces }) });
  const route = { name: 'data', when: { owners: ['team-data'] }, channels: ['fixed'] };
  const spec = { ...switchOn, alerting: { routes: [route] } };
  const ofNamespace = { labels: {}, annotations: { owner: 'team-data' } };
  const routed = await fleet.addCronJob({ name: 'routed' }, { ofNamespace });
  const named = await fleet.addCronJob({ name: 'named', annotations: { channel: 'own', severity: 'critical' } });
  await fleet.addMonitor({ spec }, [routed, named]);
  const routeOf = async (name: string) => {
    const answer = await fleet.ask(`/api/v1/cronjobs/prod/${name}/route?type=jobFailed`);
    return (answer.json() as CronJobRoutes).routes[0];
  };
  const of = (found: Awaited<ReturnType<typeof routeOf>>): unknown => [
    found?.severity,
    found?.severitySource,
    found?.channels.map(({ name, via }) => `${name} ${via}`),
    found?.refused,
    found?.reason,
  ];
  await admit(['prod']);
  assert.deepEqual(of(await routeOf('routed')), ['warning', 'default', ['fixed route data'], [], null]);
  assert.deepEqual(of(await routeOf('named')), ['critical', 'CronJob', ['own annotation'], [], null]);
  assert.deepEqual(states(await coverage(fleet)), { 'prod/named': 'reached', 'prod/routed': 'reached' });
  await admit(undefined);
  const refused = [{ name: 'own', reason: 'channelNotAllowed' }];
  assert.deepEqual(of(await routeOf('named')), ['critical', 'CronJob', [], refused, 'channelNotAllowed']);
  assert.equal(states(await coverage(fleet, '?days=31'))['prod/named'], 'unreachable');
});

const iso = (at: number): string => new Date(at).toISOString();

/** The route of `prod/backup` for one type. */
async function wayOf(fleet: TestFleet, query = ''): Promise<AlertRoute> {
  const answer = await fleet.ask(`/api/v1/cronjobs/prod/backup/route?type=jobFailed${query}`);
  assert.equal(answer.status, 200, answer.text);
  const [route] = (answer.json() as CronJobRoutes).routes;
  assert.ok(route);
  return route;
}

test('a tracer says step by step who hears, and when', async () => {
  await using fleet = await startFleet();
  await accepts(fleet, 'team-chat');
  const cronJob = await fleet.addCronJob({ name: 'backup' });
  await fleet.addMonitor({ spec: to('team-chat') }, [cronJob]);
  const way = await wayOf(fleet);
  assert.equal(way.words, 'If it failed now, team-chat hears at once');
  assert.deepEqual(
    way.steps.map(({ kind, effect, at }) => [kind, effect, at]),
    routeStepKinds.map((kind) => [kind, 'pass', iso(testNow)]),
    'in the order of alerting.md',
  );
  assert.deepEqual(way.channels[0]?.at, iso(testNow));
  const at = iso(testNow + 3 * hourMs);
  const later = await wayOf(fleet, `&at=${at}`);
  assert.equal(later.words, `If it failed at {at:${at}}, team-chat hears at once`);
  for (const wrong of [testNow - hourMs, testNow + 32 * dayMs]) {
    assert.equal((await fleet.ask(`/api/v1/cronjobs/prod/backup/route?at=${iso(wrong)}`)).status, 400);
  }
});

test('a tracer names what holds a message, until when, and the page that shows it', async () => {
  await using fleet = await startFleet();
  await accepts(fleet, 'team-chat');
  const cronJob = await fleet.addCronJob({ name: 'backup' });
  await fleet.addMonitor({ spec: to('team-chat') }, [cronJob]);
  const alert = await addAlert(fleet, { lastNotifiedAt: testNow - hourMs / 2 });
  const untilAt = iso(testNow + hourMs / 2);
  const counted = await wayOf(fleet);
  assert.deepEqual(counted.steps.at(-1), {
    kind: 'duplicate',
    words: `Already told: one more is counted, and told again from {at:${untilAt}} on`,
    at: null,
    effect: 'stop',
    href: `/alerts/${alert.id}`,
  });
  assert.equal(counted.channels[0]?.at, null);
  assert.match(counted.words, /^If it failed now, no channel hears: already told/);
  const after = await wayOf(fleet, `&at=${untilAt}`);
  assert.equal(after.words, `If it failed at {at:${untilAt}}, team-chat hears at once`);
});

test('a used-up limit and a held channel make a message wait', async () => {
  await using fleet = await startFleet();
  await accepts(fleet, 'team-chat');
  const cronJob = await fleet.addCronJob({ name: 'backup' });
  await fleet.addMonitor({ spec: to('team-chat') }, [cronJob]);
  // Of a burst of 10, one a 1.2 s, nothing is left for 5 s.
  await fleet.store.sql('rate_limits').insert({ scope: 'global', tat: testNow + 10 * 1_200 + 5_000 });
  const limited = await wayOf(fleet);
  const step = limited.steps.at(-1);
  assert.deepEqual([step?.kind, step?.effect], ['rateLimit', 'wait']);
  assert.match(limited.words, /^If it failed now, team-chat hears at \{at:/);
  await fleet.store.sql('rate_limits').delete();
  await fleet.store.sql('channels').update({ hold: 'circuit', hold_until: testNow + hourMs });
  const held = await wayOf(fleet);
  const channel = held.steps.find(({ kind }) => kind === 'channel');
  assert.deepEqual(
    [channel?.effect, channel?.at, channel?.href],
    ['wait', iso(testNow + hourMs), '/channels/team-chat'],
  );
  await fleet.store.sql('channels').update({ hold: 'parked', hold_until: null });
  assert.equal((await wayOf(fleet)).words, 'If it failed now, team-chat hears once it is mended');
});

test('who may not read channels sees when each hears, and not what the message looks like there', async () => {
  const cluster = new ReviewingCluster()
    .grant('dev', 'list cronjobs in prod')
    .grant('ops', 'list cronjobs in prod', 'list alertchannels');
  await using fleet = await startFleet({ settings: { authMode: 'token' }, cluster: cluster.asCluster() });
  await accepts(fleet, 'team-chat');
  await fleet.addMonitor({ spec: to('team-chat') }, [await fleet.addCronJob({ name: 'backup' })]);
  const as = async (token: string, query = '?type=jobFailed') => {
    const headers = { Authorization: `Bearer ${token}` };
    const answer = await fleet.ask(`/api/v1/cronjobs/prod/backup/route${query}`, { headers });
    return (answer.json() as CronJobRoutes).routes[0]?.channels[0];
  };
  const [dev, ops] = [await as('dev'), await as('ops')];
  assert.deepEqual([dev?.words, dev?.rendered], ['team-chat hears at once', null]);
  assert.match(ops?.rendered?.text ?? '', /prod\/backup[^]*nothing has happened/);
  assert.equal((await as('ops', ''))?.rendered, null, 'of all types together none is shown');
});
