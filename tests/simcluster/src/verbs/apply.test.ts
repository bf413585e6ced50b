import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startTrial, type TrialAnswer } from '../trial-cluster.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const cronJobs = '/apis/batch/v1/namespaces/default/cronjobs';
const config = (data: Record<string, string>, name = 'a'): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
});
const managersOf = ({ body }: TrialAnswer): string[] =>
  (body.metadata.managedFields ?? []).map(
    ({ manager, operation, fieldsV1 }: { manager: string; operation: string; fieldsV1: object }) =>
      `${operation} ${manager} ${JSON.stringify(fieldsV1)}`,
  );

async function anApplier(t: Parameters<typeof startTrial>[0]): Promise<{
  ask: Awaited<ReturnType<typeof startTrial>>['ask'];
  apply: (manager: string, body: object, query?: string, path?: string) => Promise<TrialAnswer>;
}> {
  const { ask } = await startTrial(t, { controllers: false });
  const headers = { 'content-type': 'application/apply-patch+yaml' };
  return {
    ask,
    apply: (manager, body, query = '', path = `${configMaps}/a`) =>
      ask('PATCH', `${path}?fieldManager=${manager}${query}`, body, headers),
  };
}

describe('server-side apply', () => {
  test('names every conflict, in order', async (t) => {
    const { apply } = await anApplier(t);
    await apply('alpha', config({ one: '1', two: '2' }));
    const { status, body } = await apply('beta', config({ one: 'x', two: 'y' }));
    assert.equal(status, 409);
    assert.equal(body.message, 'Apply failed with 2 conflicts: conflicts with "alpha":\n- .data.one\n- .data.two');
    assert.deepEqual(
      body.details.causes.map(({ field }: { field: string }) => field),
      ['.data.one', '.data.two'],
    );
  });

  test('finds who created an object by other means, and lets force take over', async (t) => {
    const { ask, apply } = await anApplier(t);
    await ask('POST', `${configMaps}?fieldManager=hand`, config({ one: '1', two: '2' }));
    const refused = await apply('alpha', config({ one: 'x' }));
    assert.equal(refused.body.message, 'Apply failed with 1 conflict: conflict with "hand" using v1: .data.one');
    const forced = await apply('alpha', config({ one: 'x' }), '&force=true');
    assert.deepEqual(forced.body.data, { one: 'x', two: '2' });
    assert.deepEqual(managersOf(forced), [
      'Apply alpha {"f:data":{"f:one":{}}}',
      'Update hand {"f:data":{"f:two":{}}}',
    ]);
  });

  test('takes fields from those whose value another write changed', async (t) => {
    const { ask, apply } = await anApplier(t);
    await apply('alpha', config({ one: '1', two: '2' }));
    const merge = { 'content-type': 'application/merge-patch+json', 'user-agent': 'hand/1.0' };
    const patched = await ask('PATCH', `${configMaps}/a`, { data: { one: 'x' } }, merge);
    assert.deepEqual(managersOf(patched), [
      'Apply alpha {"f:data":{"f:two":{}}}',
      'Update hand {"f:data":{"f:one":{}}}',
    ]);
    // What alpha does not own any more stays when alpha drops it.
    assert.deepEqual((await apply('alpha', config({}))).body.data, { one: 'x' });
  });

  test('gives up what is no longer applied, unless another manager wants it too', async (t) => {
    const { apply } = await anApplier(t);
    await apply('alpha', config({ one: '1', two: '2' }));
    await apply('beta', config({ two: '2' }));
    assert.deepEqual((await apply('alpha', config({}))).body.data, { two: '2' });
    assert.equal((await apply('beta', config({}))).body.data, undefined);
  });

  test('merges lists of the server by their keys and replaces those without', async (t) => {
    const { apply } = await anApplier(t);
    const cronJob = (spec: object): object => ({
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'c' },
      spec: {
        schedule: '0 0 * * *',
        jobTemplate: { spec: { template: { spec: { restartPolicy: 'Never', ...spec } } } },
      },
    });
    const path = `${cronJobs}/c`;
    await apply('alpha', cronJob({ containers: [{ name: 'main', image: 'one', args: ['a'] }] }), '', path);
    const { body } = await apply('beta', cronJob({ containers: [{ name: 'side', image: 'two' }] }), '', path);
    const { containers } = body.spec.jobTemplate.spec.template.spec;
    assert.deepEqual(
      containers.map(({ name, image }: { name: string; image: string }) => [name, image]),
      [
        ['main', 'one'],
        ['side', 'two'],
      ],
    );
    const refused = await apply('beta', cronJob({ containers: [{ name: 'main', args: ['b'] }] }), '', path);
    const place = '.spec.jobTemplate.spec.template.spec.containers[name="main"].args';
    assert.equal(refused.body.details.causes[0].field, place);
  });

  test('refuses fields that the kind does not have', async (t) => {
    const { apply } = await anApplier(t);
    const { status, body } = await apply('alpha', { ...config({}), colour: 'red' });
    assert.equal(status, 500);
    assert.match(
      body.message,
      /failed to create typed patch object \(default\/a; v1, Kind=ConfigMap\): \.colour: field not declared in schema/,
    );
  });

  test('changes nothing in a dry run', async (t) => {
    const { ask, apply } = await anApplier(t);
    assert.equal((await apply('alpha', config({ one: '1' }), '&dryRun=All')).status, 201);
    assert.equal((await ask('GET', `${configMaps}/a`)).status, 404);
  });
});
