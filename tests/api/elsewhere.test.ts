import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { ask, disagreements, testSettings, type Answer } from '@cronjob-monitor/apiserver/testing';
import type { ApiSettings } from '@cronjob-monitor/apiserver';
import type { ClusterList, SuspendResult, TriggerResult, Whoami } from '@cronjob-monitor/shared/contract';
import { ClusterError, type Cluster, type Identity, type RawObject } from '@cronjob-monitor/shared/kube';
import { systemClock } from '@cronjob-monitor/shared/process';
import {
  describeSelf,
  migrate,
  openStore,
  pruneRest,
  schemaOpener,
  type ServerSettings,
  type Store,
} from '@cronjob-monitor/shared/store';
import { RecordingLogger } from '@cronjob-monitor/shared/testing';
import { testDatabases } from '../store/databases.ts';
import { serveApi, type ApiUnderTest } from './api-under-test.ts';
import { aClusterOfOne } from './cluster.ts';
import { schemas } from './schemas.ts';
import { seedFleet } from './seed.ts';

const deps = { clock: systemClock, log: new RecordingLogger() };
const backup = '/api/v1/cronjobs/prod/backup';
const key = createSecretKey(Buffer.from('a key of more than thirty-two bytes'));
const base: ApiSettings = { ...testSettings, authMode: 'token', costlyRequestsPerMinute: 10_000 };

/** A cluster that remembers what was done in it; who may what is a right such as `create jobs`, of a user or of a group. */
class RecordingCluster {
  readonly jobs: string[] = [];
  readonly done: string[] = [];
  readonly rights = new Map<string, readonly string[]>();
  readonly reviewed: Identity[] = [];
  /** Until it resolves nothing is done. */
  gate: Promise<void> = Promise.resolve();

  asCluster(): Cluster {
    const own: Partial<Cluster> = {
      reviewToken: async (user) => ({ user, uid: user, groups: ['staff', 'system:masters'], extra: {} }),
      reviewAccess: async (identity, question) => {
        this.reviewed.push(identity);
        const { verb } = question;
        const asked = 'path' in question ? question.path : [question.resource, question.name].filter(Boolean).join(' ');
        return [identity.user, ...identity.groups].some((who) => this.rights.get(who)?.includes(`${verb} ${asked}`));
      },
      createJob: async (_namespace, job) => {
        await this.gate;
        const { name } = (job as { metadata: { name: string } }).metadata;
        if (this.jobs.includes(name))
          throw new ClusterError('alreadyExists', { verb: 'create', resource: 'jobs', message: 'is there' });
        this.jobs.push(name);
        return job as RawObject;
      },
      setSuspended: async (_key, suspended) => {
        this.done.push(suspended ? 'suspend' : 'resume');
        return {};
      },
    };
    const one = aClusterOfOne();
    return new Proxy(one, { get: (of, member) => own[member as keyof Cluster] ?? of[member as keyof Cluster] });
  }
}

for (const database of testDatabases().filter(({ name }) => name !== 'sqlite')) {
  describe(`actions in another cluster of one ${database.name}`, { skip: database.skip ?? false }, () => {
    const stores: Store[] = [];
    const eu = new RecordingCluster();
    const us = new RecordingCluster();
    let settings: ServerSettings[];
    let home: ApiUnderTest;

    before(async () => {
      settings = await schemas(database, 'eu', 'us');
      for (const [index, one] of settings.entries()) {
        const store = openStore(one, deps);
        stores.push(store);
        await migrate(store, { version: 'test' });
        const { epoch } = await seedFleet(store);
        await store.fenced(epoch, (tx) => describeSelf(tx, { name: ['eu', 'us'][index], defaultTimeZone: 'UTC' }));
      }
      eu.rights.set('ana', ['get clusters us', 'create jobs']);
      eu.rights.set('rob', ['get clusters us']);
      eu.rights.set('system:serviceaccount:ci:bot', ['get clusters us']);
      us.rights.set('ana', ['create jobs', 'patch cronjobs']);
      us.rights.set('eve', ['create jobs']);
      us.rights.set('system:serviceaccount:ci:bot', ['create jobs']);
      us.rights.set('system:masters', ['create jobs', 'patch cronjobs']);
      home = await serveHome({ actionsKey: key });
    });
    after(async () => {
      await home[Symbol.asyncDispose]();
      for (const store of stores) await store.close();
      await database.remove();
    });

    const serveHome = async (changes: Partial<ApiSettings>): Promise<ApiUnderTest> => {
      const [own] = settings as [ServerSettings];
      const api = await serveApi({
        store: stores[0] as Store,
        cluster: eu.asCluster(),
        clock: systemClock,
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
      (stores[1] as Store).sql('actions').where({ kind }).select();
    const forget = async (): Promise<void> => void (await (stores[1] as Store).sql('actions').delete());
    const asUser = async (user: string, method: string, path: string, port = home.port): Promise<Answer> => {
      const answer = await ask(port, path, { method, headers: { authorization: `Bearer ${user}` } });
      assert.deepEqual(disagreements(method, path, answer), [], path);
      return answer;
    };
    const post = (user: string, kind: string, more = '', port = home.port): Promise<Answer> =>
      asUser(user, 'POST', `${backup}/${kind}?cluster=us${more}`, port);
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
        kind: 'trigger',
        object: 'prod/backup',
        outcome: 'done',
        code: null,
      });
      const missing = await asUser('ana', 'POST', '/api/v1/cronjobs/prod/nothing/trigger?cluster=us');
      assert.deepEqual([missing.status, missing.error().details?.name], [404, 'prod/nothing']);
    });

    test('whoami and the list of clusters say that it is taken, for those who may read the cluster', async () => {
      await forget();
      const actionsOf = async (): Promise<unknown[]> => {
        const list = (await asUser('ana', 'GET', '/api/v1/clusters')).json() as ClusterList;
        const { can } = (await asUser('ana', 'GET', '/api/v1/whoami?cluster=us')).json() as Whoami;
        return [list.items.find(({ name }) => name === 'us')?.actions, can.trigger, can.suspend, can.silence];
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
      const unread = await post('eve', 'trigger');
      assert.deepEqual(
        [unread.status, unread.error().details?.resource],
        [403, 'clusters.cronjob-monitor.io/us'],
        'here',
      );
      const bot = await post('system:serviceaccount:ci:bot', 'trigger');
      assert.deepEqual([bot.status, bot.error().code], [403, 'FORBIDDEN']);
      assert.equal(us.jobs.length, before);
      assert.ok(us.reviewed.every(({ groups }) => !groups.includes('system:masters')));
      assert.equal(audits(agent).length, 2, 'the refusal here asks no agent');
    });

    test('of several CronJobs those are suspended there, and nothing else is done to them from here', async () => {
      await using _ = await serveAgent();
      eu.rights.set('ana', ['get clusters us']);
      const bulk = async (action: string): Promise<Record<string, unknown> | undefined> => {
        const text = JSON.stringify({ action, refs: [{ namespace: 'prod', name: 'backup' }] });
        const headers = { authorization: 'Bearer ana', 'content-type': 'application/json' };
        const answer = await ask(home.port, '/api/v1/bulk?cluster=us', { method: 'POST', headers, body: text });
        return (answer.json() as { rows: Record<string, unknown>[] }).rows[0];
      };
      assert.equal((await bulk('suspend'))?.['outcome'], 'done');
      assert.equal((await bulk('acknowledge'))?.['code'], 'READ_ONLY');
      assert.equal((await asUser('ana', 'DELETE', `${backup}/history?cluster=us`)).error().code, 'READ_ONLY');
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
      const [right] = await rows.clone().where({ kind: 'trigger' });
      await forget();
      const other = store.dialect.id16('01a1f153-cb38-7c11-8f2e-6b1d9f3c21aa');
      const fresh = { ...right, state: 'asked', claimed_by: null, ended_at: null, result: null };
      const forged = [
        { id: other },
        { kind: 'suspend' },
        { kind: 'prune' },
        { namespace: 'dev' },
        { name: 'etl' },
        { args: '{"force":true}' },
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
      await rows.clone().where({ kind: 'trigger' }).update({ state: 'asked', expires_at: expires, result: null });
      await until(
        async () => (await rows.clone().where({ kind: 'trigger', state: 'expired' })).length === 1,
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
      const [row] = await rowsOf('trigger');
      await pruneRest(store, { budgetMs: 10_000 }, { ...rest, heartbeatsBefore: Number(row?.['expires_at']) });
      assert.equal((await rowsOf('trigger')).length, 1);
      await pruneRest(store, { budgetMs: 10_000 }, { ...rest, heartbeatsBefore: Number(row?.['expires_at']) + 1 });
      assert.equal((await rowsOf('trigger')).length, 0);
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
      await until(async () => (await rowsOf('trigger'))[0]?.['state'] === 'claimed', 'it is claimed');
      await using _ = await serveAgent();
      const answer = await waiting;
      assert.deepEqual([answer.status, answer.error().code], [503, 'CLUSTER_SILENT']);
      assert.match(answer.error().message, /cluster us .* took the action .* may have been done/);
      const [row] = await rowsOf('trigger');
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
      assert.deepEqual(await rowsOf('trigger'), []);
      const agent = await serveAgent();
      await until(async () => (await rowsOf('agent')).length === 1, 'it says that it is there');
      const [present] = await rowsOf('agent');
      await agent[Symbol.asyncDispose]();
      const gone = await post('ana', 'trigger');
      assert.match(gone.error().message, /cluster us .*is there\. Nothing was done/, 'it has said that it goes');
      assert.deepEqual(await rowsOf('trigger'), []);
      // As one leaves it that is killed.
      const { id, expires_at: expiresAt, mac } = present ?? {};
      await (stores[1] as Store).sql('actions').where({ id }).update({ expires_at: expiresAt, mac });
      const late = await post('ana', 'trigger');
      assert.match(late.error().message, /did not take|in time. Nothing was done/);
      assert.equal((await rowsOf('trigger'))[0]?.['state'], 'expired');
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
