import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { SimCluster } from '@cronjob-monitor/simcluster';
import { apiRequest, type ApiAnswer } from '../realcluster/api-request.ts';
import { testDatabases } from '../store/databases.ts';
import type { MonitorProcess } from '../servers/index.ts';
import { namespace, startBench, until } from './harness/bench.ts';
import { putCronJob } from './harness/objects.ts';

const other = 'bank';
/** The account of the service, and people: who may read everywhere, who may in one namespace, who may nothing. */
const serviceToken = 'token-of-the-service';
const tokens = { ada: 'token-of-ada', ben: 'token-of-ben', cora: 'token-of-cora' };

/** F49: who calls cannot be found out; may not; may in one namespace and not in the other. */
for (const database of testDatabases()) {
  describe(`F49, access, ${database.name}`, { skip: database.skip }, () => {
    let sim: SimCluster;
    let service: MonitorProcess;
    let close: () => Promise<void> = async () => {};
    after(async () => {
      await close();
      await database.remove();
    });

    const ask = (path: string, token?: string, method = 'GET'): Promise<ApiAnswer> =>
      apiRequest({ url: service.api, token }, method, `/api/v1/${path}`);
    const names = async (path: string, token: string): Promise<string[]> => {
      const { status, body } = await ask(path, token);
      assert.equal(status, 200, JSON.stringify(body));
      return body.items.map(({ namespace: where, name }: { namespace: string; name: string }) => `${where}/${name}`);
    };

    before(async () => {
      const bench = await startBench({ controllers: false, token: serviceToken, user: { token: serviceToken } });
      close = () => bench.close();
      sim = bench.sim;
      service = await bench.prepare({ storage: await database.fresh(), config: { 'auth.mode': 'token' } });
      await service.startReady();
      await service.untilLeading();
      for (const [name, token] of Object.entries(tokens)) sim.addToken(token, { name, groups: [] });
      sim.addAccessRule(({ name }, deed) => {
        if (name.startsWith('ada')) return true;
        const isReading = !('path' in deed) && deed.verb === 'list' && deed.namespace === namespace;
        return name === 'ben' ? isReading : name === 'cora' ? false : undefined;
      });
      putCronJob(sim, 'seen');
      const meta = { namespace: other };
      sim.objects.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: other } });
      const [seen] = sim.objects.list({ apiVersion: 'batch/v1', kind: 'CronJob', namespace });
      sim.objects.put({ ...seen, metadata: { ...meta, name: 'hidden' } });
      sim.objects.put({
        apiVersion: 'cronjob-monitor.io/v1alpha1',
        kind: 'CronJobMonitor',
        metadata: { ...meta, name: 'everything' },
        spec: {},
      });
      await until('both are known', async () => (await ask('cronjobs', tokens.ada)).body.items?.length === 2); // 503 until the API is ready
    });

    test('a list across namespaces holds what its caller may see, its figures count no more', async () => {
      const own = `${namespace}/seen`;
      assert.deepEqual(await names('cronjobs', tokens.ada), [`${other}/hidden`, own]);
      for (const path of [
        'cronjobs',
        'cronjobs?sort=nextRun',
        `cronjobs?namespace=${other},${namespace}`,
        'timeline',
        'grid',
      ]) {
        assert.deepEqual(await names(path, tokens.ben), [own], path);
      }
      assert.deepEqual(await names(`cronjobs?namespace=${other}`, tokens.ben), []);
      assert.deepEqual(await names('cronjobs', tokens.cora), []);
      const counts = async (token: string): Promise<number[]> => {
        const { body } = await ask('stats', token);
        return [body.totalCronJobs, body.totalMonitors];
      };
      // At the same time: an answer that is shared must not be given to a user who sees less.
      const all = await Promise.all([tokens.ada, tokens.ben, tokens.cora].map(counts));
      assert.deepEqual(all, [
        [2, 2],
        [1, 1],
        [0, 0],
      ]);
      const table = await ask('cronjobs?format=csv', tokens.ben);
      assert.match(String(table.body), /seen/);
      assert.doesNotMatch(String(table.body), /hidden/);
    });

    test('what may not be seen is 403 and names the right that is missing, whether it exists or not', async () => {
      for (const name of ['hidden', 'there-is-none']) {
        for (const path of ['', '/executions', '/slots', '/series', '/timeline', '/executions/x']) {
          const { status, body } = await ask(`cronjobs/${other}/${name}${path}`, tokens.ben);
          assert.equal(status, 403, path);
          assert.deepEqual(body.error.details, { verb: 'list', resource: 'cronjobs', namespace: other });
        }
      }
      const { status, body } = await ask(`cronjobs/${namespace}/seen/suspend`, tokens.ben, 'POST');
      assert.equal(status, 403);
      assert.deepEqual(body.error.details, { verb: 'patch', resource: 'cronjobs', namespace });
      assert.equal((await ask('config', tokens.ben)).status, 403);
    });

    test('no caller is let in without a token, or with an unknown one', async () => {
      for (const token of [undefined, 'invented', serviceToken.slice(1)]) {
        for (const path of ['cronjobs', 'stats', `cronjobs/${namespace}/seen`, 'config', 'events/stream']) {
          const { status, headers } = await ask(path, token);
          assert.equal(status, 401, path);
          assert.equal(headers['www-authenticate'], 'Bearer');
        }
      }
    });

    for (const [what, effect] of [
      ['refuse', { kind: 'answer', code: 503 }],
      ['break off', { kind: 'disconnect' }],
      ['are forbidden to us', { kind: 'answer', code: 403 }],
    ] as const) {
      for (const resource of ['tokenreviews', 'subjectaccessreviews']) {
        test(`while ${resource} ${what}, every caller is shut out with 503, and let in again after`, async () => {
          const fault = sim.fault({ target: { path: resource }, effect });
          const newcomer = `ada after ${resource} ${what}`.replaceAll(' ', '-'); // nothing is kept of her yet
          sim.addToken(newcomer, { name: newcomer, groups: [] });
          for (const path of ['cronjobs', 'stats', `cronjobs/${namespace}/seen`, 'config']) {
            const { status, headers, body } = await ask(path, newcomer);
            assert.equal(status, 503, path);
            assert.equal(body.error.code, 'REVIEW_UNAVAILABLE');
            assert.equal(headers['retry-after'], '5');
            assert.ok(!JSON.stringify(body).includes('seen'));
          }
          assert.equal((await ask(`cronjobs/${namespace}/seen/suspend`, newcomer, 'POST')).status, 503);
          assert.equal((await ask('health')).status, 200, 'health is open in every mode');
          assert.ok(fault.hits > 0);
          fault.remove();
          assert.equal((await ask('cronjobs', newcomer)).status, 200);
        });
      }
    }

    test('no token stands in the log', () => {
      const text = JSON.stringify(service.log);
      for (const token of [...Object.values(tokens), serviceToken, 'invented']) assert.ok(!text.includes(token));
    });
  });
}
