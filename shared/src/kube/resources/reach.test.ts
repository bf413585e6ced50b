import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NamespaceFacts } from '../../domain/index.ts';
import type { JobsSpec, MonitorSelector } from './monitor-spec.ts';
import { reachOf, selectsCronJob, type ReachRules } from './reach.ts';
import { selectsNothing } from './decode-monitor.ts';

const selector = (more: Partial<MonitorSelector> = {}): MonitorSelector => ({
  matchLabels: {},
  matchExpressions: [],
  matchNames: [],
  namespaces: [],
  namespaceSelector: undefined,
  allNamespaces: false,
  fallback: false,
  ...more,
});

const rules: ReachRules = {
  ignoredNamespaces: ['kube-system'],
  watchNamespaces: [],
  crossNamespaceFrom: ['monitoring'],
};

function namespace(
  name: string,
  labels: Record<string, string> = {},
  monitoredFrom: string[] = [],
): [string, NamespaceFacts] {
  return [name, { uid: name, name, labels, monitoredFrom, deletingAt: undefined }];
}

const known = new Map([
  namespace('prod', { team: 'data' }),
  namespace('prod-db', { team: 'data' }, ['prod']),
  namespace('open', { team: 'web' }, ['*']),
  namespace('closed', { team: 'data' }),
  namespace('kube-system', { team: 'data' }),
  namespace('monitoring'),
]);

const byTeam = { matchLabels: { team: 'data' }, matchExpressions: [] };

for (const { says, own, given, more, reaches, refused = [], passedOver = [] } of [
  { says: 'without a selector its own namespace', own: 'prod', given: undefined, reaches: ['prod'] },
  { says: 'with an empty selector its own namespace', own: 'prod', given: selector(), reaches: ['prod'] },
  { says: 'its own namespace also when nothing is known of it', own: 'new', given: undefined, reaches: ['new'] },
  {
    says: 'a namespace that has agreed',
    own: 'prod',
    given: selector({ namespaces: ['prod', 'prod-db'] }),
    reaches: ['prod', 'prod-db'],
  },
  {
    says: 'a namespace that has agreed to all',
    own: 'prod',
    given: selector({ namespaces: ['open'] }),
    reaches: ['open'],
  },
  {
    says: 'no namespace that has not agreed',
    own: 'prod',
    given: selector({ namespaces: ['closed', 'prod'] }),
    reaches: ['prod'],
    refused: ['closed NamespaceNotAuthorized'],
  },
  {
    says: 'no namespace that agreed to another',
    own: 'open',
    given: selector({ namespaces: ['prod-db'] }),
    reaches: [],
    refused: ['prod-db NamespaceNotAuthorized'],
  },
  {
    says: 'any namespace from where the configuration says so',
    own: 'monitoring',
    given: selector({ namespaces: ['closed'] }),
    reaches: ['closed'],
  },
  {
    says: 'any namespace from anywhere when the configuration says so',
    own: 'prod',
    given: selector({ namespaces: ['closed'] }),
    more: { crossNamespaceFrom: ['*'] },
    reaches: ['closed'],
  },
  {
    says: 'no ignored namespace, whatever asks',
    own: 'monitoring',
    given: selector({ namespaces: ['kube-system'] }),
    reaches: [],
    refused: ['kube-system NamespaceIgnored'],
  },
  {
    says: 'not even its own when that is ignored',
    own: 'kube-system',
    given: undefined,
    reaches: [],
    refused: ['kube-system NamespaceIgnored'],
  },
  {
    says: 'no namespace that does not exist',
    own: 'monitoring',
    given: selector({ namespaces: ['gone'] }),
    reaches: [],
    refused: ['gone NamespaceNotFound'],
  },
  {
    says: 'nothing beyond the watched namespaces',
    own: 'monitoring',
    given: selector({ namespaces: ['prod', 'closed'] }),
    more: { watchNamespaces: ['prod'] },
    reaches: ['prod'],
    refused: ['closed NamespaceIgnored'],
  },
  {
    says: 'by label what has agreed, and names the rest',
    own: 'prod',
    given: selector({ namespaceSelector: byTeam }),
    reaches: ['prod', 'prod-db'],
    refused: ['closed NamespaceNotAuthorized'],
    passedOver: ['kube-system'],
  },
  {
    says: 'by label not its own when that has not the label',
    own: 'open',
    given: selector({ namespaceSelector: byTeam }),
    more: { crossNamespaceFrom: ['*'] },
    reaches: ['closed', 'prod', 'prod-db'],
    passedOver: ['kube-system'],
  },
  {
    says: 'with allNamespaces all that agree, without fault',
    own: 'prod',
    given: selector({ allNamespaces: true }),
    reaches: ['open', 'prod', 'prod-db'],
    passedOver: ['closed', 'kube-system', 'monitoring'],
  },
  { says: 'nothing with a selector that cannot be used', own: 'prod', given: selectsNothing, reaches: [] },
]) {
  test(`a monitor reaches ${says}`, () => {
    const reach = reachOf(own, given, known, { ...rules, ...more });
    assert.deepEqual([...reach.namespaces].sort(), reaches);
    assert.deepEqual(
      reach.refused.map(({ namespace, reason }) => `${namespace} ${reason}`),
      refused,
    );
    assert.deepEqual(reach.passedOver, passedOver);
  });
}

const cronJob = { namespace: 'prod', name: 'nightly', labels: { tier: 'backup' } };
const reached = new Set(['prod']);

for (const { says, given, at = reached, selects } of [
  { says: 'without a selector every CronJob', given: undefined, selects: true },
  { says: 'nothing outside the namespaces reached', given: undefined, at: new Set(['other']), selects: false },
  { says: 'a CronJob by its labels', given: selector({ matchLabels: { tier: 'backup' } }), selects: true },
  { says: 'no CronJob of other labels', given: selector({ matchLabels: { tier: 'web' } }), selects: false },
  { says: 'a CronJob by its exact name', given: selector({ matchNames: ['weekly', 'nightly'] }), selects: true },
  { says: 'no CronJob of a longer name', given: selector({ matchNames: ['night'] }), selects: false },
  {
    says: 'only what fits by name and by label',
    given: selector({ matchNames: ['nightly'], matchLabels: { tier: 'web' } }),
    selects: false,
  },
  { says: 'nothing with a selector that cannot be used', given: selectsNothing, selects: false },
]) {
  test(`a monitor selects ${says}`, () => assert.equal(selectsCronJob({ selector: given }, at, cronJob), selects));
}

const jobs = (more: Partial<JobsSpec> = {}): JobsSpec => ({
  matchLabels: {},
  matchExpressions: [],
  ownerKinds: [],
  hasAnnotations: [],
  only: false,
  forgetAfter: '24h',
  ...more,
});
const hook = {
  notes: {},
  ownerKind: 'JobSet',
  labels: { team: 'data' },
  annotations: ['helm.sh/hook', 'helm.sh/hook-weight'],
};

for (const { says, given, selects } of [
  { says: 'no Job unless it looks for Jobs', given: undefined, selects: false },
  { says: 'a Job by its labels', given: jobs({ matchLabels: { team: 'data' } }), selects: true },
  { says: 'no Job of other labels', given: jobs({ matchLabels: { team: 'web' } }), selects: false },
  {
    says: 'a Job by one of the kinds of its controller',
    given: jobs({ ownerKinds: ['Job', 'JobSet'] }),
    selects: true,
  },
  { says: 'no Job of another controller', given: jobs({ ownerKinds: ['Workflow'] }), selects: false },
  {
    says: 'a Job that has all annotations',
    given: jobs({ hasAnnotations: ['helm.sh/hook', 'helm.sh/hook-weight'] }),
    selects: true,
  },
  {
    says: 'no Job that lacks one annotation',
    given: jobs({ hasAnnotations: ['helm.sh/hook', 'other'] }),
    selects: false,
  },
  {
    says: 'no Job that fits by one criterion of two',
    given: jobs({ ownerKinds: ['JobSet'], matchLabels: { team: 'web' } }),
    selects: false,
  },
  {
    says: 'no Job by criteria that cannot be used',
    given: jobs({ ownerKinds: ['JobSet'], unusable: true }),
    selects: false,
  },
]) {
  const group = { namespace: 'prod', name: '~train', labels: hook.labels, marks: hook };
  test(`a monitor selects ${says}`, () => assert.equal(selectsCronJob({ jobs: given }, reached, group), selects));
}

test('labels and names of the selector are those of CronJobs, and `only` leaves these out', () => {
  const group = { namespace: 'prod', name: '~train', labels: hook.labels, marks: hook };
  const both = { selector: selector({ matchNames: ['nightly'] }), jobs: jobs({ ownerKinds: ['JobSet'] }) };
  assert.equal(selectsCronJob(both, reached, group), true);
  assert.equal(selectsCronJob(both, reached, cronJob), true);
  assert.equal(selectsCronJob({ jobs: jobs({ only: true }) }, reached, cronJob), false);
  assert.equal(selectsCronJob(both, new Set(['other']), group), false);
});
