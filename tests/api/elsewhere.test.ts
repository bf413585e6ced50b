import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { ask, disagreements, sealOf, testSettings, type Answer } from '@cronjob-monitor/apiserver/testing';
import type { ApiSettings } from '@cronjob-monitor/apiserver';
import type {
  AcknowledgeResult,
  ChannelTestResult,
  ClusterList,
  CronJobList,
  JobLogs,
  Silence,
  SuspendResult,
  TriggerResult,
  Whoami,
} from '@cronjob-monitor/shared/contract';
import { systemClock, type Clock } from '@cronjob-monitor/shared/process';
import {
  askAction,
  findCronJob,
  forgetCronJob,
  newId,
  pruneRest,
  putActiveJobs,
  schemaOpener,
  type ServerSettings,
  type Store,
} from '@cronjob-monitor/shared/store';
import { RecordingLogger } from '@cronjob-monitor/shared/testing';
import { testDatabases } from '../store/databases.ts';
import { projected } from '../store/facts.ts';
import { serveApi, type ApiUnderTest } from './api-under-test.ts';
import { liveJob, RecordingCluster } from './recording-cluster.ts';
import { schemas } from './schemas.ts';
import { type Seed, seedCluster } from './seed.ts';

const deps = { clock: systemClock, log: new RecordingLogger() };
const backup = '/api/v1/cronjobs/prod/backup';
const key = createSecretKey(Buffer.from('a key of more than thirty-two bytes'));
const base: ApiSettings = { ...testSettings, authMode: 'token', costlyRequestsPerMinute: 10_000 };

const allThere =
  'create jobs,patch cronjobs,delete cronjobs,list cronjobs,get pods/log,update cronjobmonitors,update alertchannels,post /api/v1/admin/prune'.split(
    ',',
  );

for (const database of testDatabases().filter(({ name }) => name !== 'sqlite')) {
  describe(`actions in another cluster of one ${database.name}`, { skip: database.skip ?? false }, () => {
    const stores: Store[] = [];
    const seeds: Seed[] = [];
    const seeded: string[] = [];
    const eu = new RecordingCluster();
    const us = new RecordingCluster();
    let settings: ServerSettings[];
    let home: ApiUnderTest;

    before(async () => {
      settings = await schemas(database, 'eu', 'us');
      for (const [index, one] of settings.entries()) {
        const { store, ...seed } = await seedCluster(one, index === 0 ? 'eu' : 'us');
        stores.push(store);
        seeds.push(seed);
        seeded.push(...(await store.sql('silences').select()).map(({ comment }: { comment: string }) => comment));
      }
      eu.rights.set('ana', ['get clusters us', 'create jobs']);
      eu.rights.set('rob', ['get clusters us']);
      eu.rights.set('tom', ['get clusters us']);
      us.rights.set('tom', ['list cronjobs']);
      eu.rights.set('system:serviceaccount:ci:bot', ['get clusters us']);
      us.rights.set('ana', allThere);
      us.rights.set('eve', ['create jobs', 'update cronjobmonitors']);
      us.rights.set('system:serviceaccount:ci:bot', ['create jobs']);
      us.rights.set('system:masters', ['create jobs', 'patch cronjobs']);
      home = await serveHome({ actionsKey: key });
    });
    after(async () => {
      await home[Symbol.asyncDispose]();
      for (const store of stores) await store.close();
      await database.remove();
    });

    const serveHome = async (changes: Partial<ApiSettings>, clock = systemClock): Promise<ApiUnderTest> => {
      const [own] = settings as [ServerSettings];
      const api = await serveApi({
        store: stores[0] as Store,
        cluster: eu.asCluster(),
        clock,
        settings: { ...base, clusterName: 'eu', ...changes },
        openSchema: schemaOpener(own, deps),
      });
      await ask(api.port, '/api/v1/stats?cluster=us', { headers: { authorization: 'Bearer ana' } }); // finds the cluster
      return api;
    };
    /** An API server of `us`. It has said that it is there. */
    const serveAgent = async (changes: Partial<ApiSettings> = {}): Promise<ApiUnderTest> => {
      const before = (await rowsOf('agent')).length;
      const agent = await serveApi({
        store: stores[1] as Store,
        cluster: us.asCluster(),
        clock: systemClock,
        settings: { ...base, clusterName: 'us', actionsKey: key, ...changes },
      });
      await until(async () => (await rowsOf('agent')).length > before, 'the agent is there');
      return agent;
    };
    const rowsOf = async (kind: string): Promise<Record<string, unknown>[]> =>
      (stores[1] as Store).sql('actions').where({ kind }).orderBy('id').select();
    const forget = async (): Promise<void> => void (await (stores[1] as Store).sql('actions').delete());
    const asUser = async (user: string, method: string, path: string, port = home.port): Promise<Answer> => {
      const answer = await ask(port, path, { method, headers: { authorization: `Bearer ${user}` } });
      assert.deepEqual(disagreements(method, path, answer), [], path);
      return answer;
    };
    const post = (user: string, kind: string, more = '', port = home.port): Promise<Answer> =>
      asUser(user, 'POST', `${backup}/${kind}?cluster=us${more}`, port);
    const send = async (user: string, method: string, path: string, body: object): Promise<Answer> => {
      const headers = { authorization: `Bearer ${user}`, 'content-type': 'application/json' };
      const answer = await ask(home.port, path, { method, headers, body: JSON.stringify(body) });
      assert.deepEqual(disagreements(method, path, answer), [], path);
      return answer;
    };
    const silencesIn = async (at: number): Promise<readonly string[]> => {
      const rows: { comment: string }[] = await (stores[at] as Store).sql('silences').select();
      return rows.map(({ comment }) => comment).filter((text) => !seeded.includes(text));
    };
    const audits = (agent: ApiUnderTest): readonly object[] =>
      agent.lines.filter(({ message }) => message === 'Action for another cluster').map(({ fields }) => fields);

    test('what is asked is done there and only there, with the answer of a local call, and told with user and cluster', async () => {
      await using agent = await serveAgent();
      const answer = await post('ana', 'trigger');
      assert.equal(answer.status, 200, answer.text);
      const { jobName } = answer.json() as TriggerResult;
      assert.match(jobName, /^backup-manual-[0-9a-f]{12}$/);
      assert.deepEqual(us.jobs, [jobName]);
      const suspended = (await post('ana', 'suspend')).json() as SuspendResult;
      assert.deepEqual([suspended.suspended, suspended.changed], [true, true]);
      assert.equal(((await post('ana', 'resume')).json() as SuspendResult).changed, false);
      assert.deepEqual([us.done, eu.jobs, eu.done], [['suspend'], [], []]);
      const [told] = audits(agent);
      const { action, ...facts } = told as Record<string, unknown>;
      assert.equal(typeof action, 'string');
      assert.deepEqual(facts, {
        component: 'api',
        user: 'ana',
        groups: ['staff', 'system:masters'],
        cluster: 'eu',
        kind: 'triggerCronJob',
        object: '/api/v1/cronjobs/prod/backup/trigger',
        outcome: 'done',
        code: null,
      });
      const here = home.lines.find(({ message }) => message === 'Unsafe call')?.fields as Record<string, unknown>;
      assert.deepEqual(
        [here['user'], here['cluster'], here['action'], here['outcome']],
        ['ana', 'us', 'POST /api/v1/cronjobs/{namespace}/{name}/trigger', 'done'],
      );
      const missing = await asUser('ana', 'POST', '/api/v1/cronjobs/prod/nothing/trigger?cluster=us');
      assert.deepEqual([missing.status, missing.error().details?.name], [404, 'prod/nothing']);
    });

    test('whoami and the list of clusters say that it is taken, for those who may read the cluster', async () => {
      await forget();
      const actionsOf = async (): Promise<unknown[]> => {
        const list = (await asUser('ana', 'GET', '/api/v1/clusters')).json() as ClusterList;
        const { can } = (await asUser('ana', 'GET', '/api/v1/whoami?cluster=us')).json() as Whoami;
        return [list.items.find(({ name }) => name === 'us')?.actions, can.trigger, can.silence, can.prune];
      };
      eu.rights.set('ana', ['get clusters us', 'create jobs', 'list cronjobs']);
      assert.deepEqual(await actionsOf(), [false, false, false, false]);
      await using _ = await serveAgent();
      assert.deepEqual(await actionsOf(), [true, true, true, false]);
    });

    test('each cluster asks for its own right, and names that Kubernetes gives are of one cluster alone', async () => {
      await using agent = await serveAgent();
      const before = us.jobs.length;
      const denied = await post('rob', 'trigger');
      assert.deepEqual([denied.status, denied.error().code], [403, 'FORBIDDEN']);
      assert.match(denied.error().message, /create jobs in prod/, 'refused there');
      assert.equal((await post('eve', 'trigger')).status, 200, 'its right is one of there: none is needed here');
      const unread = await asUser('eve', 'GET', `${backup}?cluster=us`);
      assert.deepEqual([unread.status, unread.error().details?.resource], [403, 'clusters.cronjob-monitor.io/us']);
      const bot = await post('system:serviceaccount:ci:bot', 'trigger');
      assert.deepEqual([bot.status, bot.error().code], [403, 'FORBIDDEN']);
      assert.equal(us.jobs.length, before + 1);
      assert.ok(us.reviewed.every(({ groups }) => !groups.includes('system:masters')));
      assert.equal(audits(agent).length, 3, 'a review is no line of the audit log');
    });

    test('who may not read all of a cluster reads what its own rights let them read, namespace by namespace', async () => {
      await forget();
      const [{ epoch }, store] = [seeds[1] as Seed, stores[1] as Store];
      const { uid } = await projected(store, epoch, { namespace: 'data', name: 'etl' });
      const hour = 3_600_000;
      let aheadMs = 0;
      const clock: Clock = Object.assign(Object.create(systemClock) as Clock, {
        monotonicMs: () => systemClock.monotonicMs() + aheadMs,
      });
      await using here = await serveHome({ actionsKey: key }, clock);
      const of = (path: string, method = 'GET'): Promise<Answer> =>
        asUser('nia', method, `/api/v1${path}?cluster=us`, here.port);
      {
        await using _ = await serveAgent();
        us.rights.set('nia', ['list cronjobs in prod', 'patch cronjobs in prod']);
        const namesFor = async (query: string): Promise<string[]> => {
          const answer = await asUser('nia', 'GET', `/api/v1/cronjobs${query}`, here.port);
          assert.equal(answer.status, 200, answer.text);
          return (answer.json() as CronJobList).items.map(({ namespace, name }) => `${namespace}/${name}`);
        };
        const ofProd = await namesFor('?cluster=us');
        assert.ok(ofProd.includes('prod/backup') && !ofProd.includes('data/etl'), ofProd.join());
        assert.deepEqual(await namesFor('?namespace=prod'), ofProd, 'of all clusters: none of here');
        assert.deepEqual(await namesFor('?namespace=data'), []);
        const reviews = (await rowsOf('review')).length;
        assert.deepEqual(await namesFor('?cluster=us'), ofProd);
        assert.equal((await rowsOf('review')).length, reviews, 'what was granted is kept');

        assert.equal((await of('/cronjobs/prod/backup')).status, 200);
        assert.equal((await of('/cronjobs/data/etl')).status, 403);
        assert.equal(
          (await asUser('nia', 'GET', '/api/v1/cronjobs/data/etl', here.port)).status,
          403,
          'and nothing says that us has it',
        );
        const { can } = (await of('/whoami')).json() as Whoami;
        assert.deepEqual(
          [can.read, can.suspend, can.readLogs, can.trigger, can.readMonitors, can.readChannels],
          [true, true, false, false, false, false],
        );
        const list = (await asUser('nia', 'GET', '/api/v1/clusters', here.port)).json() as ClusterList;
        assert.deepEqual(
          list.items
            .map(({ name, states }) => [name, Object.values(states).reduce((sum, count) => sum + count, 0)])
            .at(-1),
          ['us', ofProd.length],
        );
        assert.equal((await of('/cronjobs/prod/backup/suspend', 'POST')).status, 200);
        assert.equal((await of('/cronjobs/prod/backup/trigger', 'POST')).status, 403);
      }
      us.rights.set('nia', ['list cronjobs in prod']);
      {
        await using _ = await serveAgent();
        aheadMs = hour / 2;
        assert.equal(((await of('/whoami')).json() as Whoami).can.suspend, false, 'what was granted is asked again');
      }
      aheadMs = hour;
      const late = await of('/cronjobs/prod/backup');
      assert.equal(late.status, 200, 'a right to read serves while its cluster is silent');
      assert.match(String(late.headers['x-rights-as-of']), /^\d{4}-/);
      aheadMs = 25 * hour;
      const gone = await of('/cronjobs/prod/backup');
      assert.deepEqual([gone.status, gone.error().code], [503, 'CLUSTER_SILENT']);
      await store.fenced(epoch, (tx) => forgetCronJob(tx, uid, store.now()));
    });

    test('of several CronJobs each is done there for itself, and what deletes is not done from here', async () => {
      await using _ = await serveAgent();
      eu.rights.set('ana', ['get clusters us']);
      const bulk = async (action: string, user = 'ana'): Promise<Record<string, unknown> | undefined> => {
        const text = JSON.stringify({ action, refs: [{ namespace: 'prod', name: 'backup' }] });
        const headers = { authorization: `Bearer ${user}`, 'content-type': 'application/json' };
        const answer = await ask(home.port, '/api/v1/bulk?cluster=us', { method: 'POST', headers, body: text });
        return (answer.json() as { rows: Record<string, unknown>[] }).rows[0];
      };
      assert.equal((await bulk('suspend'))?.['outcome'], 'done');
      assert.equal((await bulk('acknowledge'))?.['outcome'], 'done');
      assert.equal((await bulk('acknowledge'))?.['outcome'], 'unchanged');
      const refused = await bulk('unacknowledge', 'tom');
      assert.deepEqual([refused?.['outcome'], refused?.['code']], ['refused', 'FORBIDDEN']);
      assert.match(String(refused?.['words']), /update cronjobmonitors in prod/);
      assert.equal((await asUser('ana', 'DELETE', `${backup}/history?cluster=us`)).error().code, 'READ_ONLY');
    });

    test('alerts are acknowledged and silences made, changed and ended there, by the user of here and with the answers of there', async () => {
      await using agent = await serveAgent();
      const { alert } = seeds[1] as Seed;
      const note = { note: 'on it' };
      const noted = await send('ana', 'POST', `/api/v1/alerts/${alert}/acknowledge?cluster=us`, note);
      assert.equal(noted.status, 200, noted.text);
      const { acknowledgement } = (noted.json() as AcknowledgeResult).alert;
      assert.deepEqual([acknowledgement?.by, acknowledgement?.note], ['ana', 'on it']);
      assert.equal((await asUser('ana', 'DELETE', `/api/v1/alerts/${alert}/acknowledge?cluster=us`)).status, 200);
      const ended = await send(
        'ana',
        'POST',
        `/api/v1/alerts/${(seeds[1] as Seed).endedAlert}/acknowledge?cluster=us`,
        {},
      );
      assert.deepEqual([ended.status, ended.error().code], [409, 'ALERT_ENDED']);

      const draft = { matcher: { namespaces: ['prod'] }, duration: '1h', comment: 'of eu' };
      const drawn = await send('ana', 'POST', '/api/v1/silences?cluster=us&dryRun=true', draft);
      assert.deepEqual([drawn.status, (drawn.json() as Silence).id], [200, null]);
      const made = await send('ana', 'POST', '/api/v1/silences?cluster=us', draft);
      const { id, createdBy } = made.json() as Silence;
      assert.deepEqual([made.status, createdBy], [201, 'ana']);
      assert.equal(made.headers['location'], `/api/v1/silences/${id}?cluster=us`);
      const path = `/api/v1/silences/${id}?cluster=us`;
      assert.equal((await send('ana', 'PUT', path, { ...draft, comment: 'of eu, changed' })).status, 200);
      assert.deepEqual([await silencesIn(0), await silencesIn(1)], [[], ['of eu, changed']]);
      assert.equal(((await asUser('ana', 'DELETE', path)).json() as Silence).state, 'expired');
      const comments = audits(agent).flatMap((one) => ('comment' in one ? one.comment : []));
      assert.deepEqual(comments, ['on it', '', 'of eu', 'of eu', 'of eu, changed']);

      const wrong = await send('ana', 'POST', '/api/v1/silences?cluster=us', { ...draft, colour: 'red' });
      assert.deepEqual([wrong.status, wrong.error().code], [400, 'INVALID_REQUEST']);
      const whole = { ...draft, matcher: { all: true } };
      const denied = await send('rob', 'POST', '/api/v1/silences?cluster=us', whole);
      assert.match(denied.error().message, /update cronjobmonitors/);
      const unknown = await send('zoe', 'POST', '/api/v1/silences?cluster=us', whole);
      assert.match(unknown.error().message, /update cronjobmonitors/, 'whatever its rights here');
      assert.equal((await silencesIn(1)).length, 1);
    });

    test('the log of a run that goes on is read there, by those who may read logs there, and kept in no row', async () => {
      await using agent = await serveAgent();
      const [, store] = stores as [Store, Store];
      const { uid = '' } = (await findCronJob(store, 'prod', 'backup')) ?? {};
      const job = { jobUid: liveJob, cronJobUid: uid, jobName: 'backup-live', trigger: 'manual' } as const;
      const pod = { podName: undefined, podPhase: undefined, ready: undefined };
      const times = { scheduledAt: undefined, createdAt: store.now(), startedAt: store.now(), finishing: false };
      await store.fenced((seeds[1] as Seed).epoch, (tx) => putActiveJobs(tx, [{ ...job, ...pod, ...times }]));
      const path = `${backup}/executions/backup-live/logs?cluster=us`;
      const log = await asUser('ana', 'GET', path);
      assert.equal(log.status, 200, log.text);
      assert.match((log.json() as JobLogs).logs, /copying of us/);
      const text = await asUser('ana', 'GET', `${path}&format=text&tailLines=5`);
      assert.match(text.text, /^copying of us/);
      const denied = await asUser('tom', 'GET', path);
      assert.match(denied.error().message, /get pods\/log in prod/);
      assert.deepEqual(audits(agent), [], 'as at home only what changes something is told');
      await store.sql('active_jobs').where({ job_name: 'backup-live' }).delete();
      const rows = await rowsOf('getLogs');
      assert.deepEqual(
        rows.map(({ state, result }) => [state, result]),
        [
          ['done', null],
          ['done', null],
          ['refused', null],
        ],
      );
    });

    test('a channel is tested by the controller there', async () => {
      await using _ = await serveAgent();
      const answer = await asUser('ana', 'POST', '/api/v1/channels/team-chat/test?cluster=us');
      assert.equal(answer.status, 200, answer.text);
      const { deliveryId } = answer.json() as ChannelTestResult;
      const counts = stores.map(
        async (store) => (await store.sql('deliveries').where({ id: store.dialect.id16(deliveryId) })).length,
      );
      assert.deepEqual(await Promise.all(counts), [0, 1]);
    });

    test('a sealed row of what no other cluster is asked for is not done', async () => {
      await forget();
      await using agent = await serveAgent();
      const store = stores[1] as Store;
      const past = [
        ['POST', '/api/v1/admin/prune'],
        ['DELETE', `${backup}/history`],
        ['GET', '/api/v1/cronjobs'],
        ['POST', '/metrics'],
      ] as const;
      for (const [method, path] of past) {
        const call = { method, path, query: '', body: null };
        const askedBy = JSON.stringify({ user: 'ana', groups: [], cluster: 'eu' });
        const id = newId(store.now());
        const row = { id, kind: 'triggerCronJob', namespace: '', name: '', args: JSON.stringify(call), askedBy };
        const action = { ...row, expiresAt: store.now() + 10_000 };
        await askAction(store, { ...action, mac: sealOf(key, 'us', action) });
        await until(async () => (await rowsOf('triggerCronJob'))[0]?.['state'] === 'refused', path);
        await store.sql('actions').where({ kind: 'triggerCronJob' }).delete();
      }
      const changing = past.filter(([method]) => method !== 'GET');
      assert.deepEqual(
        audits(agent).map((one) => 'code' in one && one.code),
        changing.map(() => 'NOT_FOUND'),
      );
    });

    test('what is asked for at once has an end: in bytes, and in actions that wait', async () => {
      await forget();
      const agent = await serveAgent();
      const headers = { authorization: 'Bearer ana', 'content-type': 'application/json' };
      const text = JSON.stringify({ matcher: { namespaces: ['prod'] }, duration: '1h' }) + ' '.repeat(300_000);
      const large = await ask(home.port, '/api/v1/silences?cluster=us', { method: 'POST', headers, body: text });
      assert.deepEqual([large.status, large.error().code], [413, 'PAYLOAD_TOO_LARGE']);
      await post('ana', 'trigger');
      const [present] = await rowsOf('agent');
      const [done] = await rowsOf('triggerCronJob');
      await agent[Symbol.asyncDispose]();
      const store = stores[1] as Store;
      await store
        .sql('actions')
        .where({ id: present?.['id'] })
        .update({ expires_at: present?.['expires_at'], mac: present?.['mac'] });
      const waiting = {
        ...done,
        state: 'asked',
        result: null,
        ended_at: null,
        claimed_by: null,
        expires_at: Date.now() + 60_000,
      };
      const rows = Array.from({ length: 500 }, () => ({ ...waiting, id: store.dialect.id16(newId(store.now())) }));
      for (let at = 0; at < rows.length; at += 100) await store.sql('actions').insert(rows.slice(at, at + 100));
      const full = await post('ana', 'trigger');
      assert.deepEqual([full.status, full.error().code], [503, 'CLUSTER_SILENT']);
      assert.match(full.error().message, /too many actions wait there already. Nothing was done/);
      assert.equal((await rowsOf('triggerCronJob')).length, rows.length + 1);
      await forget();
    });

    test('the mode of the cluster that is asked decides who is asked about, whatever brought the caller', async () => {
      for (const [authMode, denied] of [
        ['proxy', 403],
        ['none', 200],
      ] as const) {
        await forget();
        await using _ = await serveAgent({ authMode });
        assert.equal((await post('ana', 'suspend')).status, 200, authMode);
        assert.equal((await post('rob', 'suspend')).status, denied, authMode);
      }
    });

    test('a service there that only reads refuses', async () => {
      await using _ = await serveAgent({ readOnly: true });
      assert.deepEqual((await post('ana', 'trigger')).error().code, 'READ_ONLY');
    });

    test('a row of which anything was changed is refused and logged, and so is one of another key or cluster', async () => {
      await forget();
      await using _ = await serveAgent();
      const store = stores[1] as Store;
      const rows = store.sql('actions');
      const at = us.jobs.length + us.done.length;
      await post('ana', 'trigger');
      const [right] = await rows.clone().where({ kind: 'triggerCronJob' });
      await forget();
      const other = store.dialect.id16('01a1f153-cb38-7c11-8f2e-6b1d9f3c21aa');
      const fresh = { ...right, state: 'asked', claimed_by: null, ended_at: null, result: null };
      const forged = [
        { id: other },
        { kind: 'suspendCronJob' },
        { kind: 'prune' },
        { namespace: 'dev' },
        { name: 'etl' },
        { args: right.args.replace('/trigger', '/suspend') },
        { args: right.args.replace('"query":""', '"query":"force=true"') },
        { asked_by: right.asked_by.replace('ana', 'eve') },
        { expires_at: Number(right.expires_at) + 60_000 },
        { mac: '' },
        { mac: '0'.repeat(64) },
      ];
      for (const change of forged) {
        await rows.clone().insert({ ...fresh, ...change });
        await until(
          async () => (await rows.clone().whereIn('state', ['asked', 'claimed'])).length === 0,
          'it is looked at',
        );
        const [row] = await rows.clone().whereNot({ kind: 'agent' });
        assert.equal(row.state, 'refused', JSON.stringify(change));
        await rows.clone().whereNot({ kind: 'agent' }).delete();
      }
      assert.equal(us.jobs.length + us.done.length, at + 1);
      await using elsewhere = await serveAgent({ clusterName: 'mars' });
      await using stranger = await serveAgent({
        actionsKey: createSecretKey(Buffer.from('another key of thirty-two bytes and')),
      });
      const warned = [_, elsewhere, stranger].map(({ lines }) => lines.filter(({ level }) => level === 'warn').length);
      assert.deepEqual(warned, [forged.length, 0, 0]);
      // The row of before once more, as who writes into the database would: its Job is there, and no second one is made.
      await rows.clone().insert(fresh);
      await until(
        async () => (await rows.clone().whereIn('state', ['asked', 'claimed'])).length === 0,
        'it is looked at',
      );
      assert.equal(us.jobs.length + us.done.length, at + 1);
    });

    test('a row that has expired by the clock of the database is not done', async () => {
      await forget();
      const at = us.jobs.length;
      await using _ = await serveAgent();
      await post('ana', 'trigger');
      const rows = (stores[1] as Store).sql('actions');
      const expires = Date.now() - 1;
      await rows
        .clone()
        .where({ kind: 'triggerCronJob' })
        .update({ state: 'asked', expires_at: expires, result: null });
      await until(
        async () => (await rows.clone().where({ kind: 'triggerCronJob', state: 'expired' })).length === 1,
        'it expires',
      );
      assert.equal(us.jobs.length, at + 1);
    });

    test('rows go once they are old', async () => {
      const [, store] = stores as [Store, Store];
      const kept = {
        alertsBefore: 0,
        silencesBefore: 0,
        drillsBefore: 0,
        forecastsBefore: 0,
        payloadsBefore: 0,
        payloadsFrom: 0,
        runsBefore: 0,
      };
      const rest = { ...kept, rollupsBeforeDay: 0, templatesBefore: 0, objectsBefore: 0, changesBefore: 0 };
      const [row] = await rowsOf('triggerCronJob');
      await pruneRest(store, { budgetMs: 10_000 }, { ...rest, heartbeatsBefore: Number(row?.['expires_at']) });
      assert.equal((await rowsOf('triggerCronJob')).length, 1);
      await pruneRest(store, { budgetMs: 10_000 }, { ...rest, heartbeatsBefore: Number(row?.['expires_at']) + 1 });
      assert.equal((await rowsOf('triggerCronJob')).length, 0);
    });

    test('two agents of one cluster make one Job of each wish', async () => {
      const at = us.jobs.length;
      await using _ = await serveAgent();
      await using second = await serveAgent();
      const answers = await Promise.all(Array.from({ length: 8 }, () => post('ana', 'trigger', '&force=true')));
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
      assert.equal(us.jobs.length, at + 8);
      assert.equal(audits(_).length + audits(second).length, 8);
    });

    test('of an agent that is gone before its answer the caller hears that it may have acted, and no other acts', async () => {
      await forget();
      const at = us.jobs.length;
      let open = (): void => {};
      us.gate = new Promise((resolve) => (open = resolve));
      const hanging = await serveAgent();
      const waiting = post('ana', 'trigger', '&force=true');
      await until(async () => (await rowsOf('triggerCronJob'))[0]?.['state'] === 'claimed', 'it is claimed');
      await using _ = await serveAgent();
      const answer = await waiting;
      assert.deepEqual([answer.status, answer.error().code], [503, 'CLUSTER_SILENT']);
      assert.match(answer.error().message, /cluster us .* took the action .* may have been done/);
      const [row] = await rowsOf('triggerCronJob');
      assert.deepEqual([row?.['state'], typeof row?.['claimed_by']], ['claimed', 'string']);
      assert.equal(us.jobs.length, at);
      open();
      await hanging[Symbol.asyncDispose]();
      assert.equal(us.jobs.length, at + 1);
      us.gate = Promise.resolve();
    });

    test('where no agent is there the caller hears at once that nothing was done; without a key it is only read here', async () => {
      await forget();
      const silent = await post('ana', 'trigger');
      assert.deepEqual([silent.status, silent.error().code], [503, 'CLUSTER_SILENT']);
      assert.match(silent.error().message, /cluster us .*Nothing was done/);
      assert.deepEqual(await rowsOf('triggerCronJob'), []);
      const agent = await serveAgent();
      await until(async () => (await rowsOf('agent')).length === 1, 'it says that it is there');
      const [present] = await rowsOf('agent');
      await agent[Symbol.asyncDispose]();
      const gone = await post('ana', 'trigger');
      assert.match(gone.error().message, /cluster us .*is there\. Nothing was done/, 'it has said that it goes');
      assert.deepEqual(await rowsOf('triggerCronJob'), []);
      // As one leaves it that is killed.
      const { id, expires_at: expiresAt, mac } = present ?? {};
      await (stores[1] as Store).sql('actions').where({ id }).update({ expires_at: expiresAt, mac });
      const late = await post('ana', 'trigger');
      assert.match(late.error().message, /did not take|in time. Nothing was done/);
      assert.equal((await rowsOf('triggerCronJob'))[0]?.['state'], 'expired');
      await using keyless = await serveHome({ actionsKey: undefined });
      assert.equal((await post('ana', 'trigger', '', keyless.port)).error().code, 'READ_ONLY');
      await forget();
      await using stranger = await serveHome({
        actionsKey: createSecretKey(Buffer.from('another key of thirty-two bytes and')),
      });
      await using _ = await serveAgent();
      assert.equal((await post('ana', 'trigger', '', stranger.port)).error().code, 'CLUSTER_SILENT');
    });
  });
}

async function until(isSo: () => Promise<boolean>, what: string): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if (await isSo()) return;
    await systemClock.sleep(50);
  }
  assert.fail(`never: ${what}`);
}
