import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CoverageList, CronJobRoutes, MonitorPreview, Silence, Stats } from '@cronjob-monitor/shared/contract';
import {
  findMonitor,
  putEvidence,
  putSilence,
  recordChanges,
  recordDecisions,
  type StoredSilence,
} from '@cronjob-monitor/shared/store';
import { documentedOperations, documentedQuery } from '../testing/agreement.ts';
import { addAlert, addChannel, addDelivery } from '../testing/alerts.ts';
import { testNow } from '../testing/api.ts';
import { openEvents } from '../testing/event-client.ts';
import { startFleet, type TestFleet } from '../testing/fleet.ts';
import { ReviewingCluster } from '../testing/reviewing-cluster.ts';
import { hourMs } from '@cronjob-monitor/shared/domain';

const base = '/api/v1/';
const readers = ['list cronjobs', 'get pods/log', 'list cronjobmonitors', 'create cronjobmonitors'];
const inOne = (namespace: string): string[] => readers.map((right) => `${right} in ${namespace}`);

/** Who may see all, one namespace, the other one, and nothing. */
const callers = ['all', 'dev', 'prod', 'none'] as const;
const both = ['dev', 'prod'] as const;

const silenceId = (last: string): string => `019ab2c4-0000-7000-8000-0000000000${last}`;
const ofAll = silenceId('04');
const nothing = { namespaces: [], cronjobs: [], types: [], severities: [], monitor: null, alertId: null, all: false };

function aSilence(last: string, matcher: Partial<StoredSilence['matcher']>): StoredSilence {
  return {
    id: silenceId(last),
    matcher: { ...nothing, ...matcher },
    startsAt: testNow - hourMs,
    endsAt: testNow + hourMs,
    untilResolved: false,
    comment: `comment ${last}`,
    createdBy: 'ana',
    createdAt: testNow - hourMs,
    updatedAt: testNow - hourMs,
    endedAt: undefined,
  };
}

/** Namespaces with one of everything each, a channel that all use, and silences of one, of several and of all. */
async function fleetOf(namespaces: readonly string[], isKept: (silenceId: string) => boolean = () => true) {
  const cluster = new ReviewingCluster()
    .grant('all', ...readers, 'list alertchannels', 'update alertchannels')
    .grant('dev', ...inOne('dev'))
    .grant('prod', ...inOne('prod'))
    .grant('none');
  const fleet = await startFleet({ settings: { authMode: 'token' }, cluster: cluster.asCluster() });
  const channel = await addChannel(fleet);
  for (const namespace of both)
    await addChannel(fleet, {
      name: `chat-of-${namespace}`,
      spec: { type: 'chat', allowedNamespaces: [namespace] },
    });
  const alerts: string[] = [];
  for (const namespace of namespaces) {
    // It says that it is the other one's, and names the channel of the other one.
    const other = namespace === 'dev' ? 'prod' : 'dev';
    const annotations = { owner: other, channel: `chat-of-${other}, chat-of-${namespace}` };
    const ofNamespace = { labels: { tenant: other }, annotations: { severity: 'critical' } };
    const cronJob = await fleet.addCronJob(
      { namespace, name: `job-of-${namespace}`, annotations },
      { ofNamespace, owner: other },
    );
    const routes = [
      { name: 'owner', channels: ['chat-of-{{ .Owner }}'] },
      { name: 'label', when: { labels: { tenant: other } }, channels: [`chat-of-${other}`] },
    ];
    const spec = { sla: { minSuccessRate: 95 }, alerting: { channelRefs: [{ name: channel.name }], routes } };
    const { name } = await fleet.addMonitor({ namespace, name: `monitor-of-${namespace}`, spec }, [cronJob]);
    const [run] = await fleet.addRuns(
      cronJob,
      { status: 'failed' },
      { status: 'failed', createdAt: testNow - 172_800_000 },
    );
    assert.ok(run);
    const piece = { owner: run.jobUid, cronJobUid: cronJob.uid, createdAt: run.createdAt, capturedAt: testNow };
    const whole = { truncated: false, unavailable: undefined };
    const text = `error: a log of ${namespace}`;
    const lines = JSON.stringify([{ pod: 'p', container: 'main', number: 1, text, by: 'word' }]);
    await putEvidence(fleet.store, fleet.epoch, [
      { ...piece, ...whole, kind: 'logs', name: 'p/main', body: text },
      { ...piece, ...whole, kind: 'decisive', name: '', body: lines },
    ]);
    const { monitor } = await findMonitor(fleet.store, { namespace, name });
    const monitorId = monitor?.id ?? 0;
    const alert = await addAlert(fleet, { namespace, cronJobName: `job-of-${namespace}`, monitorId });
    await addAlert(fleet, {
      namespace,
      cronJobName: `job-of-${namespace}`,
      monitorId,
      state: 'resolved',
      closeCause: 'cleared',
      endedAt: testNow - 1,
    });
    await addDelivery(fleet, channel, { alertId: alert.id });
    alerts.push(alert.id);
  }
  const silences = [
    aSilence('01', { namespaces: ['dev'] }),
    aSilence('02', { namespaces: ['prod'] }),
    aSilence('03', { namespaces: ['dev', 'prod'] }),
    aSilence('04', { all: true }),
    aSilence('05', { alertId: alerts.at(-1) ?? '' }),
    aSilence('06', { cronjobs: ['job-of-prod'] }),
    aSilence('07', { namespaces: ['elsewhere'] }),
  ].filter(({ id }) => isKept(id));
  await fleet.store.transaction(async (tx) => {
    for (const silence of silences) await putSilence(tx, silence);
  });
  const held = alerts.map((alertId) => ({ alertId, action: 'held', reason: 'silence', detail: ofAll }) as const);
  await fleet.store.fenced(fleet.epoch, (tx) => recordDecisions(tx, held));
  return { fleet, channel, silences, alerts };
}

function as(fleet: TestFleet, token: string) {
  const headers = { Authorization: `Bearer ${token}` };
  return (path: string, method = 'GET', body?: object) =>
    fleet.ask(`${base}${path}`, { method, headers, ...(body && { body }) });
}

type Item = Readonly<Record<string, unknown>>;
type Asked = ReturnType<typeof as>;

const named = ({ namespace, name }: Item): string => `${String(namespace)}/${String(name)}`;
const ofCronJob = (item: Item): string => `cronjobs/${named(item)}`;

/** [list, the address of one of its items by itself] */
const lists: [string, (item: Item) => string][] = [
  ['cronjobs', ofCronJob],
  ['cronjobs?format=json', ofCronJob],
  ['cronjobs?sort=-nextRun', ofCronJob],
  ['monitors', (item) => `monitors/${named(item)}`],
  ['alerts', ({ id }) => `alerts/${String(id)}`],
  ['alerts?format=json', ({ id }) => `alerts/${String(id)}`],
  ['alerts/history', ({ id }) => `alerts/${String(id)}`],
  ['alerts/history?format=json', ({ id }) => `alerts/${String(id)}`],
  ['silences', ({ id }) => `silences/${String(id)}`],
  ['silences?namespace=prod', ({ id }) => `silences/${String(id)}`],
  ['deliveries', ({ alertId }) => `alerts/${String(alertId)}`],
  ['timeline', ofCronJob],
  ['tonight', ({ cronjob }) => ofCronJob(cronjob as Item)],
  ['grid', ofCronJob],
  ['wall', ({ cronjob }) => ofCronJob(cronjob as Item)],
  ['sla', ({ cronjob }) => ofCronJob(cronjob as Item)],
  ['sla?format=json', ({ cronjob }) => ofCronJob(cronjob as Item)],
  ['coverage', ofCronJob],
  ['coverage?format=json', ofCronJob],
  ['channels', ({ name }) => `channels/${String(name)}`],
];

async function itemsOf(ask: Asked, list: string): Promise<Item[] | undefined> {
  const answer = await ask(list);
  if (answer.status !== 200) return undefined;
  const body = answer.json() as Item[] | { items: Item[] } | { rows: Item[] };
  if (Array.isArray(body)) return body;
  return 'items' in body ? body.items : body.rows;
}

test('every list and export holds what its caller may see one by one, and nothing else', async () => {
  const { fleet } = await fleetOf(both);
  await using _ = fleet;
  for (const [list, single] of lists) {
    const everything = (await itemsOf(as(fleet, 'all'), list)) ?? [];
    assert.ok(everything.length > 0, `${list} is empty`);
    for (const caller of callers) {
      const ask = as(fleet, caller);
      const expected: string[] = [];
      for (const item of everything) {
        const path = single(item);
        if ((await ask(path)).status === 200) expected.push(path);
      }
      const shown = (await itemsOf(ask, list)) ?? [];
      assert.deepEqual(shown.map(single).toSorted(), expected.toSorted(), `${list} as ${caller}`);
    }
  }
});

/** Every read of the API but the stream, which has a test of its own; a router without its operation here fails `openapi.test.ts`. */
const reads = documentedOperations
  .filter((operation) => operation.startsWith('GET ') && !operation.endsWith('/events/stream'))
  .map((operation) => ({ path: operation.slice(`GET ${base}`.length), parameters: documentedQuery(operation) }));

/** The address of what lies in a namespace; an alert has another id in each fleet. */
function addressOf(path: string, namespace: string, alertId: string): string {
  const kind = path.split('/')[0] ?? '';
  const values: Readonly<Record<string, string>> = {
    namespace,
    name: kind === 'channels' ? 'team-chat' : `${kind === 'monitors' ? 'monitor' : 'job'}-of-${namespace}`,
    jobName: `job-of-${namespace}-${Math.floor((testNow - hourMs) / 60_000)}`,
    id: kind === 'alerts' ? alertId : silenceId(`0${1 + both.indexOf(namespace as 'dev')}`),
  };
  return path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
    const value = values[name];
    assert.ok(value !== undefined, `the test knows no value for {${name}} of ${path}`);
    return value;
  });
}

/** Filters that name what another namespace holds, and every form of an export. */
const questions: Readonly<Record<string, readonly string[]>> = {
  format: ['csv', 'json'],
  namespace: ['dev', 'prod', 'dev,prod'],
  search: ['job', 'of-prod', 'monitor-of'],
  monitor: ['dev/monitor-of-dev', 'prod/monitor-of-prod'],
  cronjob: ['job-of-prod'],
  limit: ['1'],
  includeRemoved: ['true'],
  kinds: [],
};

/** An answer without what is drawn anew in each fleet. */
async function answerOf(ask: Asked, address: string): Promise<string> {
  const { status, text } = await ask(address);
  const ids = new Map<string, string>();
  const idOf = (id: string): string => ids.get(id) ?? ids.set(id, `id ${ids.size}`).get(id) ?? '';
  const shown = text
    .replaceAll(/"(?:requestId|revision)":"[^"]*"/g, '')
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, idOf);
  return `${status} ${shown}`;
}

test('whatever is asked, who may see one namespace hears what they would hear if there were no other', async () => {
  const whole = await fleetOf(both);
  await using everything = whole.fleet;
  assert.ok(reads.length > 20, `${reads.length} reads`);
  const silent: string[] = [];
  for (const caller of ['dev', 'prod', 'none'] as const) {
    const namespaces = both.filter((namespace) => namespace === caller);
    const ask = as(everything, caller);
    const seen = new Set((await itemsOf(ask, 'silences'))?.map(({ id }) => String(id)));
    const alone = await fleetOf(namespaces, (id) => seen.has(id));
    await using part = alone.fleet;
    for (const { path, parameters } of reads) {
      const filters = parameters.flatMap((name) => (questions[name] ?? []).map((value) => `?${name}=${value}`));
      for (const namespace of caller === 'none' ? both : namespaces) {
        const place = both.indexOf(namespace);
        const [own = '', other = ''] = [whole.alerts[place], alone.alerts[0] ?? whole.alerts[place]].map((id) =>
          addressOf(path, namespace, id ?? ''),
        );
        if (caller === 'none' && path.endsWith('{id}')) {
          // An id tells nothing of where it belongs: what is not there cannot be forbidden.
          assert.match(await answerOf(ask, own), /^403 /, own);
          continue;
        }
        // A search is for something.
        const needed = path === 'logs/search' ? ['?q=log', ...filters.map((filter) => `${filter}&q=log`)] : [];
        for (const filter of ['', ...filters, ...needed])
          assert.equal(
            await answerOf(ask, own + filter),
            await answerOf(as(part, caller), other + filter),
            `${own}${filter} as ${caller}`,
          );
        if (caller !== 'dev' || path.includes('{') || path === 'health' || path === 'openapi.json') continue;
        const asked = `${own}${needed[0] ?? ''}`;
        if ((await answerOf(as(everything, 'all'), asked)) === (await answerOf(ask, asked))) silent.push(path);
      }
    }
  }
  assert.deepEqual(silent.toSorted(), ['admin/storage-stats', 'config'], 'these say the same to who may see all');
});

test('every count is a count of what its caller may see', async () => {
  const { fleet, channel, silences } = await fleetOf(both);
  await using _ = fleet;
  for (const caller of callers) {
    const ask = as(fleet, caller);
    const [cronJobs, monitors, alerts] = await Promise.all(
      ['cronjobs', 'monitors', 'alerts'].map((list) => itemsOf(ask, list)),
    );
    const stats = (await ask('stats')).json() as Stats;
    assert.deepEqual(
      [stats.totalCronJobs, stats.totalMonitors, stats.activeAlerts, stats.executionsRecorded24h],
      [cronJobs?.length, monitors?.length, alerts?.length, cronJobs?.length],
      `stats as ${caller}`,
    );
    assert.deepEqual(stats.channels, caller === 'all' ? { total: 3, ready: 3 } : { total: 0, ready: 0 });
    for (const [list, of] of [
      ['cronjobs', cronJobs],
      ['alerts', alerts],
    ] as const) {
      const { pagination } = (await ask(`${list}?limit=1`)).json() as { pagination: { total: number } };
      assert.equal(pagination.total, of?.length, `${list} as ${caller}`);
    }
    for (const { id, mutedNow, mutedTotal } of (await itemsOf(ask, 'silences')) as unknown as Silence[]) {
      const whole = (await as(fleet, 'all')(`silences/${id ?? ''}`)).json() as Silence;
      const isOfTwo = id === silences[2]?.id || id === silences[3]?.id;
      assert.deepEqual([mutedNow, mutedTotal], [whole.mutedNow, whole.mutedTotal], `silence ${id ?? ''} as ${caller}`);
      assert.equal(whole.mutedNow, id === silences[6]?.id ? 0 : isOfTwo ? 2 : 1);
    }
    if (caller === 'all') {
      const { monitors: routing, monitorCount } = (await ask(`channels/${channel.name}`)).json() as {
        monitors: Item[];
        monitorCount: number;
      };
      assert.deepEqual([routing.length, monitorCount], [2, 2]);
    }
  }
});

test('who may silence sees of a silence no more alerts than they may read, and a reader of channels no monitors and messages of others', async () => {
  const cluster = new ReviewingCluster()
    .grant('silencer', 'update cronjobmonitors', 'list cronjobs in dev')
    .grant('pager', 'list alertchannels', 'list cronjobs in dev', 'list cronjobmonitors in dev');
  const fleet = await startFleet({ settings: { authMode: 'token' }, cluster: cluster.asCluster() });
  await using _ = fleet;
  const channel = await addChannel(fleet);
  for (const namespace of ['dev', 'prod']) {
    const spec = { alerting: { channelRefs: [{ name: channel.name }] } };
    const cronJob = await fleet.addCronJob({ namespace, name: 'job' });
    await fleet.addMonitor({ namespace, name: 'monitor', spec }, [cronJob]);
    const { monitor } = await findMonitor(fleet.store, { namespace, name: 'monitor' });
    const alert = await addAlert(fleet, { namespace, cronJobName: 'job', monitorId: monitor?.id ?? 0 });
    await addDelivery(fleet, channel, { alertId: alert.id });
  }
  const wish = { matcher: { all: true }, duration: '1h', comment: 'all' };
  for (const path of ['silences?dryRun=true', 'silences']) {
    const silence = (await as(fleet, 'silencer')(path, 'POST', wish)).json() as Silence;
    assert.deepEqual([silence.mutedNow, silence.mutedTotal], [1, 1], path);
  }
  const seen = (await as(fleet, 'pager')(`channels/${channel.name}`)).json() as {
    monitorCount: number;
    monitors: Item[];
    recentDeliveries: { cronjob: Item }[];
  };
  assert.deepEqual(seen.monitors, [{ namespace: 'dev', name: 'monitor' }]);
  assert.equal(seen.monitorCount, 1);
  assert.deepEqual(
    seen.recentDeliveries.map(({ cronjob }) => named(cronjob)),
    ['dev/job'],
  );
});

test('a preview tells which channels there are only to who may list them', async () => {
  const { fleet, channel } = await fleetOf(both);
  await using _ = fleet;
  const refs = [{ name: channel.name }, { name: 'there-is-none' }];
  const spec = { alerting: { channelRefs: refs }, selector: { allNamespaces: true } };
  for (const caller of ['all', 'dev'] as const) {
    const answer = await as(fleet, caller)('monitors/preview', 'POST', { namespace: 'dev', spec });
    assert.equal(answer.status, 200, answer.text);
    const preview = answer.json() as MonitorPreview;
    const told = JSON.stringify([preview.findings, preview.alerts]);
    assert.equal(told.includes('there-is-none'), caller === 'all', caller);
    assert.equal(told.includes(channel.name), caller === 'all' && preview.alerts.total > 0, caller);
    assert.equal(preview.cronJobs.matched, caller === 'all' ? 2 : 1);
  }
});

test('the stream tells each caller what it may see, and nothing else', async () => {
  const { fleet, channel, silences } = await fleetOf(both);
  await using _ = fleet;
  const clients = new Map<string, Awaited<ReturnType<typeof openEvents>>>();
  for (const caller of callers) {
    const headers = { Authorization: `Bearer ${caller}` };
    clients.set(caller, await openEvents(fleet.server.port, `${base}events/stream`, headers));
  }
  await fleet.store.transaction(async (tx) => {
    for (const namespace of ['dev', 'prod']) {
      const data = { namespace, name: `monitor-of-${namespace}`, phase: 'Active', deleted: false } as const;
      await recordChanges(tx, [{ kind: 'monitor', namespace, data }]);
    }
    await recordChanges(
      tx,
      silences.map(({ id }) => ({ kind: 'silence', namespace: undefined, data: { id, state: 'active' } }) as const),
    );
    await recordChanges(tx, [
      { kind: 'channel', namespace: undefined, data: { name: channel.name, ready: true, deleted: false } },
    ]);
  });
  for (let looks = 0; looks < 6; looks += 1) await fleet.clock.advance(500);
  for (const [caller, client] of clients) {
    const ask = as(fleet, caller);
    const allowed: string[] = [];
    for (const namespace of ['dev', 'prod']) {
      if ((await ask(`monitors/${namespace}/monitor-of-${namespace}`)).status === 200)
        allowed.push(`monitor-of-${namespace}`);
    }
    for (const { id } of silences) if ((await ask(`silences/${id}`)).status === 200) allowed.push(id);
    if ((await ask(`channels/${channel.name}`)).status === 200) allowed.push(channel.name);
    const events = await client.until(2 + allowed.length, () => fleet.clock.advance(500));
    const told = events.flatMap(({ event, data }) =>
      event === 'hello' || event === 'health' ? [] : [String(data['id'] ?? data['name'])],
    );
    assert.deepEqual(told, allowed, caller);
    client.leave();
  }
});

test('what a CronJob and its Namespace say of themselves reaches no channel that does not admit them', async () => {
  const { fleet, channel } = await fleetOf(both);
  await using _ = fleet;
  for (const namespace of both) {
    const other = namespace === 'dev' ? 'prod' : 'dev';
    const ask = as(fleet, namespace);
    const { routes } = (
      await ask(`cronjobs/${namespace}/job-of-${namespace}/route?type=jobFailed`)
    ).json() as CronJobRoutes;
    assert.deepEqual(
      routes.map(({ channels, refused }) => [
        channels.map(({ name, via }) => `${name} ${via}`),
        refused.map(({ name, reason }) => `${name} ${reason}`),
      ]),
      [[[`${channel.name} channelRefs`, `chat-of-${namespace} annotation`], [`chat-of-${other} channelNotAllowed`]]],
      namespace,
    );
    const { items } = (await ask('coverage')).json() as CoverageList;
    const told = items.flatMap(({ types }) => types.flatMap(({ channels }) => channels));
    assert.ok(!told.includes(`chat-of-${other}`) && told.includes(`chat-of-${namespace}`), told.join(', '));
    const detail = await ask(`cronjobs/${namespace}/job-of-${namespace}`);
    assert.ok(!detail.text.includes(`job-of-${other}`) && !detail.text.includes(`monitor-of-${other}`));
  }
});

test('no tenant starts, lists or proves a drill of a channel, or reads where it sends to, also of one that admits its namespace', async () => {
  const { fleet } = await fleetOf(both);
  await using _ = fleet;
  const channel = 'channels/chat-of-dev';
  const begun = await as(fleet, 'all')(`${channel}/drill`, 'POST');
  assert.equal(begun.status, 200, begun.text);
  const { id } = begun.json() as { id: string };
  for (const caller of ['dev', 'prod', 'none'] as const) {
    const ask = as(fleet, caller);
    for (const [path, method] of [
      [channel, 'GET'],
      [`${channel}/drills`, 'GET'],
      [`${channel}/rendered`, 'GET'],
      [`${channel}/drill`, 'POST'],
      [`${channel}/test`, 'POST'],
    ] as const)
      assert.equal((await ask(path, method)).status, 403, `${method} ${path} as ${caller}`);
    // The key is the right, and only the message holds it.
    const guessed = await ask(`drills/${id}/acknowledge`, 'POST', { key: '0'.repeat(32), by: caller });
    assert.ok(guessed.status === 403 || guessed.status === 404, `${guessed.status} ${guessed.text}`);
    for (const list of ['deliveries', 'alerts', 'cronjobs', 'coverage'])
      assert.ok(!(await ask(list)).text.includes(id), `${list} as ${caller}`);
  }
  const { items } = (await as(fleet, 'all')(`${channel}/drills`)).json() as { items: { outcome: string }[] };
  assert.deepEqual(
    items.map(({ outcome }) => outcome),
    ['waiting'],
  );
});

test('who waits for a CronJob of a namespace that its caller may not read hears nothing of that one but that it waits', async () => {
  const { fleet, alerts } = await fleetOf(both);
  await using _ = fleet;
  const [waiting = '', holder = ''] = alerts;
  await fleet.store.sql('cronjobs').where({ name: 'job-of-dev' }).update({ depends_on: '["prod/job-of-prod"]' });
  const ofProd = { last_notified_at: testNow, severity: 'critical' };
  await fleet.store.sql('alerts').where({ cronjob_name: 'job-of-prod' }).update(ofProd);
  await fleet.store.sql('deliveries').delete();
  const told = await addChannel(fleet, { name: 'room-of-prod' });
  await addDelivery(fleet, told, { alertId: holder }, { state: 'sent' });
  const held = { alertId: waiting, action: 'held', reason: 'dependsOn', detail: holder } as const;
  await fleet.store.fenced(fleet.epoch, (tx) => recordDecisions(tx, [held]));
  const secrets = [holder, 'room-of-prod', 'monitor-of-prod'];
  const shown = async (caller: string): Promise<string[]> => {
    const ask = as(fleet, caller);
    const found: string[] = [];
    for (const { path } of reads) {
      const address = addressOf(path, 'dev', waiting);
      const { text } = await ask(`${address}${path === 'logs/search' ? '?q=log' : ''}`);
      for (const secret of secrets) if (text.includes(secret)) found.push(`${path}: ${secret}`);
    }
    return found;
  };
  assert.deepEqual(await shown('dev'), []);
  const toAll = await shown('all');
  for (const path of ['alerts/{id}', 'cronjobs/{namespace}/{name}/route'])
    assert.ok(toAll.includes(`${path}: ${holder}`), `${path} names it to who may read both`);
});
