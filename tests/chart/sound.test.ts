import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findHelm } from './helm.ts';
import { namespace, ofKind, release, render, theOne, type Rendered } from './render.ts';
import { valueSets } from './value-sets.ts';

const helm = await findHelm();
const skip = 'skipped' in helm && helm.skipped;
const path = 'path' in helm ? helm.path : ''; // else the suite is skipped

interface Port {
  readonly name: string;
  readonly containerPort: number;
}

const podOf = (deployment: Rendered) => deployment['spec'].template;
const containerOf = (deployment: Rendered) => podOf(deployment).spec.containers[0];
const portsOf = (deployment: Rendered): string[] => containerOf(deployment).ports.map(({ name }: Port) => name);

function selects(selector: Readonly<Record<string, string>>, labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(selector).every(([label, value]) => labels[label] === value);
}

for (const [title, values] of Object.entries(valueSets)) {
  describe(`what the chart renders, ${title}`, { skip }, () => {
    const objects = skip ? [] : render(path, values);
    const deployments = ofKind(objects, 'Deployment');
    const labelsOf = (deployment: Rendered): Record<string, string> => podOf(deployment).metadata.labels;

    test('has each object once, in the namespace of the release unless it is to be elsewhere', () => {
      const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''} ${metadata.name}`);
      assert.deepEqual(names, [...new Set(names)]);
      const elsewhere = objects.filter(
        ({ kind, metadata }) =>
          !/^(Cluster)?Role(Binding)?$|^CronJobMonitor$/.test(kind) && metadata.namespace !== namespace,
      );
      assert.deepEqual(elsewhere, []);
    });

    test('selects pods by labels that they have, and that those of another component have not', () => {
      assert.ok(deployments.length > 0);
      for (const deployment of deployments) {
        const { matchLabels } = deployment['spec'].selector;
        assert.deepEqual(
          deployments.filter((other) => selects(matchLabels, labelsOf(other))),
          [deployment],
        );
        // By these the controller finds its peers.
        assert.equal(labelsOf(deployment)['app.kubernetes.io/name'], 'cronjob-monitor');
      }
      const selectors = [
        ...ofKind(objects, 'Service').map((one) => one['spec'].selector),
        ...ofKind(objects, 'PodDisruptionBudget').map((one) => one['spec'].selector.matchLabels),
        ...ofKind(objects, 'NetworkPolicy').map((one) => one['spec'].podSelector.matchLabels),
      ];
      for (const selector of selectors)
        assert.equal(deployments.filter((one) => selects(selector, labelsOf(one))).length, 1, JSON.stringify(selector));
    });

    test('leads each service, probe and policy to a port that the container has', () => {
      for (const service of ofKind(objects, 'Service')) {
        const behind = deployments.filter((one) => selects(service['spec'].selector, labelsOf(one)));
        for (const { targetPort } of service['spec'].ports)
          for (const deployment of behind) assert.ok(portsOf(deployment).includes(targetPort), service.metadata.name);
      }
      for (const deployment of deployments) {
        const container = containerOf(deployment);
        for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
          const { path: asked, port } = container[probe].httpGet;
          assert.ok(portsOf(deployment).includes(port));
          assert.equal(asked, probe === 'readinessProbe' ? '/readyz' : '/healthz');
        }
        const numbers = container.ports.map(({ containerPort }: Port) => containerPort);
        assert.deepEqual(numbers, [...new Set(numbers)]);
      }
    });

    test('runs hardened pods with probes, limits and time to end', () => {
      for (const { spec } of [...deployments.map(podOf), ...ofKind(objects, 'Pod')]) {
        const [container] = spec.containers;
        assert.equal(spec.securityContext.runAsNonRoot, true);
        assert.ok(spec.securityContext.runAsUser > 0);
        assert.equal(spec.securityContext.seccompProfile.type, 'RuntimeDefault');
        assert.equal(spec.enableServiceLinks, false);
        assert.equal(container.securityContext.allowPrivilegeEscalation, false);
        assert.equal(container.securityContext.readOnlyRootFilesystem, true);
        assert.deepEqual(container.securityContext.capabilities, { drop: ['ALL'] });
        assert.ok(container.resources.limits.memory);
        assert.ok(
          !spec.hostNetwork && !spec.hostPID && !spec.volumes?.some((one: { hostPath?: unknown }) => one.hostPath),
        );
      }
      for (const deployment of deployments) assert.equal(podOf(deployment).spec.terminationGracePeriodSeconds, 45);
      for (const { spec } of ofKind(objects, 'Pod')) assert.equal(spec.automountServiceAccountToken, false);
    });

    test('gives the heap three quarters of the memory', () => {
      for (const deployment of deployments) {
        const { env, resources } = containerOf(deployment);
        const { value } = env.find(({ name }: { name: string }) => name === 'NODE_OPTIONS');
        const mebibytes = parseInt(resources.limits.memory, 10) * (resources.limits.memory.endsWith('Gi') ? 1024 : 1);
        assert.equal(value, `--max-old-space-size=${mebibytes * 0.75}`);
      }
    });

    test('mounts what the configuration names, and only writes where a volume is', () => {
      for (const deployment of deployments) {
        const { volumeMounts } = containerOf(deployment);
        const volumes = podOf(deployment).spec.volumes.map(({ name }: { name: string }) => name);
        const mounted = volumeMounts.map(({ name }: { name: string }) => name);
        assert.deepEqual([...mounted].sort(), [...volumes].sort());
        const writable = volumeMounts.filter((one: { readOnly?: boolean }) => !one.readOnly);
        for (const { mountPath } of writable) assert.ok(['/tmp', '/data', '/spool'].includes(mountPath), mountPath);
      }
    });

    test('puts no secret into a ConfigMap, and makes none but a token for scraping', () => {
      const maps = JSON.stringify(ofKind(objects, 'ConfigMap').map(({ data }) => data['config.yaml'] ?? ''));
      assert.doesNotMatch(maps, /password: |heartbeat-url|token:/);
      for (const secret of ofKind(objects, 'Secret')) {
        assert.equal(secret['type'], 'kubernetes.io/service-account-token');
        assert.equal(secret['data'], undefined);
      }
    });

    test('has SQLite only as one replica that ends before the next begins', () => {
      const sqlite = JSON.stringify(ofKind(objects, 'ConfigMap')).includes('type: sqlite');
      for (const deployment of deployments.filter(() => sqlite)) {
        assert.equal(deployment['spec'].replicas, 1);
        assert.deepEqual(deployment['spec'].strategy, { type: 'Recreate' });
      }
      if (sqlite) assert.equal(deployments.length, 1);
      else assert.equal(ofKind(objects, 'PersistentVolumeClaim').length, 0);
    });

    test('binds each role it makes to an account that its pods have', () => {
      const accounts = new Set(deployments.map((one) => podOf(one).spec.serviceAccountName));
      for (const { metadata } of ofKind(objects, 'ServiceAccount')) accounts.add(metadata.name);
      for (const kind of ['Role', 'ClusterRole']) {
        const bindings = ofKind(objects, `${kind}Binding`);
        for (const role of ofKind(objects, kind)) {
          const bound = bindings.filter(
            (one) =>
              one['roleRef'].name === role.metadata.name &&
              one['roleRef'].kind === kind &&
              one.metadata.namespace === role.metadata.namespace,
          );
          const isForOthers = role.metadata.name.endsWith('-metrics-reader');
          assert.ok(bound.length === 1 || isForOthers, role.metadata.name);
          const subjects = bound.flatMap((one) => one['subjects']).map(({ name }: { name: string }) => name);
          assert.ok(isForOthers || subjects.every((name) => accounts.has(name)), subjects.join());
        }
      }
    });

    test('gives no right that is not needed', () => {
      const rules = ['Role', 'ClusterRole'].flatMap((kind) => ofKind(objects, kind)).flatMap((role) => role['rules']);
      for (const { resources = [], verbs, apiGroups = [] } of rules) {
        for (const word of [...resources, ...verbs, ...apiGroups]) assert.notEqual(word, '*');
        for (const verb of verbs) assert.ok(!/delete|escalate|impersonate|bind/.test(verb), verb);
        if (resources.includes('secrets')) assert.deepEqual(verbs, ['get']);
      }
      const everywhere = ofKind(objects, 'ClusterRole').flatMap((role) => role['rules']);
      assert.ok(
        !everywhere.some(({ resources = [] }) => resources.includes('secrets') || resources.includes('leases')),
      );
    });
  });
}

describe('modes of the chart', { skip }, () => {
  test('standalone replaces its pod, split hands over', () => {
    const standalone = theOne(render(path, {}), 'Deployment');
    assert.equal(containerOf(standalone).args[0], 'standalone.js');
    const split = render(path, valueSets['split on MySQL'] ?? {});
    const controller = theOne(split, 'Deployment', `${release}-controller`);
    assert.equal(controller['spec'].replicas, 3);
    assert.deepEqual(controller['spec'].strategy.rollingUpdate, { maxSurge: 1, maxUnavailable: 0 });
    assert.equal(theOne(split, 'Deployment', `${release}-apiserver`)['spec'].replicas, 2);
  });

  test('a single controller without an election is replaced, and has no right to the Lease', () => {
    const objects = render(path, valueSets['split with a single controller and no election'] ?? {});
    assert.deepEqual(theOne(objects, 'Deployment', `${release}-controller`)['spec'].strategy, { type: 'Recreate' });
    assert.ok(!JSON.stringify(objects).includes('cronjob-monitor-controller"]'));
    assert.equal(ofKind(objects, 'PodDisruptionBudget').length, 1);
  });

  test('the API server has its own account of the database and never the folder of the spool', () => {
    const objects = render(path, valueSets['split with everything'] ?? {});
    const mounts = (name: string) =>
      containerOf(theOne(objects, 'Deployment', `monitor-${name}`)).volumeMounts.map(
        ({ mountPath }: { mountPath: string }) => mountPath,
      );
    assert.ok(mounts('controller').includes('/spool'));
    assert.ok(!mounts('apiserver').includes('/spool'));
    const { env } = containerOf(theOne(objects, 'Deployment', 'monitor-apiserver'));
    const named = Object.fromEntries(env.map((one: { name: string; value?: string }) => [one.name, one.value]));
    assert.equal(named['MONITOR_STORAGE_POSTGRES_USERNAME'], 'reader');
    assert.ok(!('MONITOR_HEARTBEAT_URL' in named));
  });

  test('the autoscaler alone says how many API servers there are', () => {
    const objects = render(path, valueSets['split with everything'] ?? {});
    assert.equal(theOne(objects, 'Deployment', 'monitor-apiserver')['spec'].replicas, undefined);
    assert.equal(theOne(objects, 'HorizontalPodAutoscaler')['spec'].scaleTargetRef.name, 'monitor-apiserver');
  });

  test('receivers are reached by the controller alone', () => {
    const policies = ofKind(render(path, valueSets['split with everything'] ?? {}), 'NetworkPolicy');
    const reaches = (name: string, port: number): boolean =>
      policies
        .find(({ metadata }) => metadata.name === `monitor-${name}`)
        ?.['spec'].egress.some(({ ports }: { ports: { port: number }[] }) => ports.some((one) => one.port === port));
    assert.deepEqual([reaches('controller', 587), reaches('apiserver', 587)], [true, false]);
    assert.deepEqual([reaches('controller', 5432), reaches('apiserver', 5432)], [true, true]);
  });

  test('where the page is open to some alone, the pod of helm test is one of them', () => {
    const objects = render(path, valueSets['split with everything'] ?? {});
    const { labels } = theOne(objects, 'Pod', 'monitor-test').metadata;
    const { ingress } = theOne(objects, 'NetworkPolicy', 'monitor-apiserver')['spec'];
    const peers = ingress.find(({ ports }: { ports: { port: string }[] }) => ports[0]?.port === 'http').from;
    const selected = peers.find((peer: object) => 'podSelector' in peer)?.podSelector.matchLabels;
    assert.equal(peers.length, 2);
    assert.deepEqual(
      Object.entries(selected).filter(([name, value]) => labels?.[name] !== value),
      [],
    );
  });

  test('by default policies leave the ports of page, metrics and probes open to every pod, close the rest, and no way out', () => {
    for (const values of [{}, valueSets['split on PostgreSQL'] ?? {}]) {
      const policies = ofKind(render(path, values), 'NetworkPolicy');
      assert.ok(policies.length > 0);
      for (const { metadata, spec } of policies) {
        assert.deepEqual(spec.policyTypes, ['Ingress'], metadata.name);
        assert.equal(spec.egress, undefined);
        const open = spec.ingress.flatMap((rule: { ports: { port: string }[]; from?: unknown }) => {
          assert.equal(rule.from, undefined);
          return rule.ports.map(({ port }) => port);
        });
        const isController = metadata.name.endsWith('-controller');
        assert.deepEqual(open.toSorted(), isController ? ['metrics', 'probes'] : ['http', 'metrics', 'probes']);
      }
    }
  });

  test('ui.writes false and a read-only API leave the verbs out', () => {
    const writes = (values: object): boolean =>
      ['ClusterRole', 'Role']
        .flatMap((kind) => ofKind(render(path, values), kind))
        .flatMap((role) => role['rules'])
        .some(({ apiGroups, verbs }) => apiGroups?.includes('batch') && /patch|create/.test(verbs.join()));
    assert.equal(writes({}), true);
    assert.equal(writes({ ui: { writes: false } }), false);
    assert.equal(writes({ config: { api: { 'read-only': true } } }), false);
  });
});
