import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { apiRequest, type ApiAnswer } from '../realcluster/api-request.ts';
import { testDatabases } from '../store/databases.ts';
import { namespace, until } from './harness/bench.ts';
import { endedPodStatus, failedStatus, putCronJob, putJob, putPod, slotNumber } from './harness/objects.ts';
import { benchOfSuite } from './harness/service-bench.ts';

const evil = 'https://evil.example';
const form = 'application/x-www-form-urlencoded';

/** What a page of another site can make a browser send: headers it sets itself, and the types of body it may send unasked. */
const foreignCalls: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'a form of another site': { 'content-type': form, origin: evil, 'sec-fetch-site': 'cross-site' },
  'a form of a sister site': { 'content-type': form, origin: 'https://a.example', 'sec-fetch-site': 'same-site' },
  'a form of an old browser': { 'content-type': form, origin: evil },
  'a form of a file, or of a frame without an origin': { 'content-type': form, origin: 'null' },
  'a fetch of another site that hides its type': { 'content-type': 'text/plain', origin: evil },
  'a fetch that asks as JSON': { 'content-type': 'application/json', origin: evil, 'sec-fetch-site': 'cross-site' },
  'a form with files': { 'content-type': 'multipart/form-data; boundary=x', origin: evil },
};

/** Names that are not ours: what a browser sends whose name service was told that evil.example is at our address. */
const foreignHosts = [
  'evil.example',
  'evil.example:8080',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  'svc.evil',
];

/** F46: pages of strangers, and words of strangers in a table. */
for (const database of testDatabases()) {
  describe(`F46, foreign pages, ${database.name}`, { skip: database.skip }, () => {
    const bench = benchOfSuite({ controllers: false }, async () => {
      const settings = await database.fresh();
      return { settings, storage: settings };
    });
    after(() => database.remove());
    const one = `/api/v1/cronjobs/${namespace}/target`;
    const ask = (method: string, path: string, headers: Record<string, string> = {}): Promise<ApiAnswer> =>
      apiRequest({ url: bench().service.api }, method, path, { headers });
    const objects = (kind: string) => bench().sim.objects.list({ apiVersion: 'batch/v1', kind, namespace });
    const target = (): { spec?: { suspend?: boolean } } =>
      (objects('CronJob').find(({ metadata }) => metadata.name === 'target') ?? {}) as { spec?: { suspend?: boolean } };

    test('the CronJob is known and may be acted upon from our own page', async () => {
      putCronJob(bench().sim, 'target');
      await until('it is known', async () => (await ask('GET', one)).status === 200);
      const own = { origin: bench().service.api, 'sec-fetch-site': 'same-origin' };
      assert.equal((await ask('POST', `${one}/suspend`, own)).status, 200);
      assert.equal(target().spec?.suspend, true);
      assert.equal((await ask('POST', `${one}/resume`)).status, 200, 'a command line sends no origin');
      assert.notEqual(target().spec?.suspend, true);
    });

    for (const [what, headers] of Object.entries(foreignCalls)) {
      test(`${what} changes nothing: 403, and a line in the audit log`, async () => {
        const before = bench().service.said('Unsafe call').length;
        for (const path of [`${one}/suspend`, `${one}/trigger`, '/api/v1/admin/prune', '/api/v1/silences']) {
          const answer = await ask('POST', path, headers);
          assert.equal(answer.status, 403, path);
          assert.equal(answer.body.error.code, 'CROSS_SITE_REFUSED');
        }
        assert.equal((await ask('DELETE', `${one}/history`, headers)).status, 403);
        assert.notEqual(target().spec?.suspend, true);
        assert.equal(objects('Job').length, 0);
        await until('all five are told', () => bench().service.said('Unsafe call').length === before + 5);
        const line = bench().service.said('Unsafe call').at(-1);
        assert.deepEqual([line?.['outcome'], line?.['code']], ['refused', 'CROSS_SITE_REFUSED']);
      });
    }

    test('a form of our own origin is no JSON: 415', async () => {
      const headers = { 'content-type': form, 'sec-fetch-site': 'same-origin', 'content-length': '3' };
      const { status } = await apiRequest({ url: bench().service.api }, 'POST', `${one}/suspend`, {
        headers,
        body: 1,
        contentType: form,
      });
      assert.equal(status, 415);
      assert.notEqual(target().spec?.suspend, true);
    });

    test('a name that was bound to our address reads nothing and does nothing: 421', async () => {
      for (const host of foreignHosts) {
        for (const [method, path] of [
          ['GET', one],
          ['GET', '/api/v1/config'],
          ['GET', '/'],
          ['GET', '/healthz'],
          ['POST', `${one}/suspend`],
        ] as const) {
          const answer = await ask(method, path, { host });
          assert.equal(answer.status, 421, `${host} ${path}`);
          assert.equal(answer.body.error.code, 'HOST_NOT_ALLOWED');
          assert.ok(!JSON.stringify(answer.body).includes('target'));
        }
      }
      for (const host of ['localhost', '127.0.0.1:1', '[::1]:8080', 'monitor', 'monitor.ops.svc']) {
        assert.equal((await ask('GET', one, { host })).status, 200, host);
      }
      assert.notEqual(target().spec?.suspend, true);
    });

    test('no page of another origin is given leave to read', async () => {
      const cross = { origin: evil, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' };
      const preflight = { ...cross, 'access-control-request-method': 'POST', 'access-control-request-headers': 'x' };
      for (const answer of [
        await ask('GET', one, cross),
        await ask('OPTIONS', `${one}/suspend`, preflight),
        await ask('GET', '/api/v1/nothing', cross),
      ]) {
        assert.equal(Object.keys(answer.headers).filter((name) => name.startsWith('access-control-')).length, 0);
        assert.equal(answer.headers['cross-origin-resource-policy'], 'same-origin');
        assert.equal(answer.headers['x-content-type-options'], 'nosniff');
        assert.match(String(answer.headers['content-security-policy']), /default-src 'none'.*frame-ancestors 'none'/);
        assert.equal(answer.headers['set-cookie'], undefined);
      }
    });

    test('what a container calls its end is no formula in a table', async () => {
      const { sim } = bench();
      const owner = putCronJob(sim, 'formulas');
      const words = ['=HYPERLINK("http://evil.example","x")', '+1+1', '-1+1', '@SUM(A1)', '\t=1', '\r=1'];
      for (const [index, reason] of words.entries()) {
        const job = putJob(sim, owner, { slotAt: slotNumber(index) });
        const terminated = { exitCode: 3, reason, finishedAt: '2026-01-02T03:04:05Z' };
        const status = { ...endedPodStatus(3), containerStatuses: [{ name: 'main', state: { terminated } }] };
        putPod(sim, job, { name: `${job.metadata.name}-x`, status });
        putJob(sim, owner, { slotAt: slotNumber(index), status: failedStatus(undefined, undefined, '=Reason') });
      }
      const path = `/api/v1/cronjobs/${namespace}/formulas/executions?since=2020-01-01`;
      const reasons = async (): Promise<string[]> => {
        const { body } = await ask('GET', path);
        return (body.items ?? []).map(({ reason }: { reason: string | null }) => reason ?? '');
      };
      let found: string[] = [];
      await until(
        () => `all are recorded, and each as its container said it, ${JSON.stringify(found)}`,
        async () => {
          found = await reasons();
          return found.length === words.length && found.some((reason) => reason.startsWith('=HYPERLINK'));
        },
      );
      const { headers, body } = await ask('GET', `${path}&format=csv`);
      assert.equal(headers['content-type'], 'text/csv; charset=utf-8');
      assert.match(String(headers['content-disposition']), /^attachment;/);
      const cells = String(body)
        .split(/,|\r\n/)
        .map((cell) => cell.replace(/^"/, ''));
      assert.deepEqual(
        cells.filter((cell) => /^[=+@\t\r]/.test(cell) || (cell.startsWith('-') && Number.isNaN(Number(cell)))),
        [],
      );
      assert.match(String(body), /"'=HYPERLINK\(""http:\/\/evil\.example"",""x""\)"/);
      assert.match(String(body), /,'=Reason,/);
    });
  });
}
