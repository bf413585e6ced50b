import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, test } from 'node:test';
import { symptomCauses } from '@cronjob-monitor/shared/domain';
import { findHelm } from './helm.ts';
import { chart, namespace, ofKind, render, theOne, type Rendered } from './render.ts';
import { valueSets } from './value-sets.ts';

const helm = await findHelm();
const skip = 'skipped' in helm && helm.skipped;
const path = 'path' in helm ? helm.path : ''; // else the suite is skipped
const root = resolve(import.meta.dirname, '../..');
const everything = valueSets['split with everything'] ?? {};

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string; readonly runbook: string };
}

const rulesOf = (objects: readonly Rendered[]): Rule[] =>
  theOne(objects, 'PrometheusRule')['spec'].groups.flatMap(({ rules }: { rules: Rule[] }) => rules);

/** Names of series in an expression. */
function seriesOf(expression: string): string[] {
  return [...expression.matchAll(/\b(cronjob_monitor|controller_runtime|workqueue|process)_\w+/g)].map(
    ([name]) => name,
  );
}

/** What a name in an expression belongs to. */
const familyOf = (name: string): string => name.replace(/_(bucket|sum|count)$/, '');

/** Names of metrics as the sources spell them; what a template fills in may be any word. */
function exportedFamilies(): RegExp[] {
  const files = globSync('{controller,apiserver,shared}/src/**/*.ts', { cwd: root }).filter(
    (file) => !file.endsWith('.test.ts'),
  );
  const names = new Set<string>();
  for (const file of files) {
    const text = readFileSync(join(root, file), 'utf8');
    for (const [, name = ''] of text.matchAll(
      /['"`]((?:cronjob_monitor|controller_runtime|workqueue|process)_[\w${}.]+)['"`]/g,
    ))
      names.add(name);
  }
  return [...names].map((name) => new RegExp(`^${name.replaceAll(/\$\{[^}]*\}/g, String.raw`\w+`)}$`));
}

describe('the rules about our own health', { skip }, () => {
  const objects = skip ? [] : render(path, everything);
  const rules = skip ? [] : rulesOf(objects);

  test('are what Prometheus wants: a name once, an expression that closes, a severity, words', () => {
    const spec = theOne(objects, 'PrometheusRule')['spec'];
    assert.deepEqual(Object.keys(spec), ['groups']);
    const groups = spec.groups.map(({ name }: { name: string }) => name);
    assert.deepEqual(groups, [...new Set(groups)]);
    assert.equal(rules.length, 5);
    const names = rules.map(({ alert }) => alert);
    assert.deepEqual(names, [...new Set(names)]);
    for (const { alert, expr, labels, annotations, ...rest } of rules) {
      assert.match(alert, /^CronJobMonitor[A-Z]\w+$/);
      for (const [open, close] of ['()', '{}', '[]'])
        assert.equal(expr.split(open ?? '').length, expr.split(close ?? '').length, `${alert}: ${expr}`);
      assert.match(labels.severity, /critical.*warning/);
      assert.ok(annotations.summary && annotations.description);
      assert.deepEqual(
        Object.keys(rest).filter((key) => key !== 'for'),
        [],
      );
      if (rest.for !== undefined) assert.match(rest.for, /^[0-9]+[smh]$/);
    }
  });

  test('have a section each in the handbook, and no section is about a rule that is none', () => {
    const handbook = readFileSync(join(root, 'docs/operations.md'), 'utf8');
    const sections = [...handbook.matchAll(/^### (CronJobMonitor\w+)$/gm)].map(([, name]) => name);
    assert.deepEqual([...sections].sort(), rules.map(({ alert }) => alert).sort());
    const explained = [...handbook.matchAll(/^\| `(\w+)` \| /gm)].map(([, cause]) => cause);
    assert.deepEqual([...explained].sort(), Object.keys(symptomCauses).sort());
    for (const { alert, annotations } of rules) {
      const [file = '', anchor] = annotations.runbook.split('#');
      assert.ok(existsSync(join(root, file)));
      assert.equal(anchor, alert.toLowerCase());
    }
  });

  test('and the dashboard ask for series that a process of ours has', () => {
    const exported = exportedFamilies();
    const dashboard = readFileSync(join(chart, 'dashboards/cronjob-monitor.json'), 'utf8');
    const asked = new Set([...rules.map(({ expr }) => expr), dashboard].flatMap(seriesOf).map(familyOf));
    assert.ok(asked.size > 20);
    const unknown = [...asked].filter((name) => !exported.some((family) => family.test(name)));
    assert.deepEqual(unknown.sort(), []);
  });
});

describe('the dashboard', { skip }, () => {
  test('is one JSON document in a ConfigMap that Grafana finds', () => {
    const map = theOne(render(path, everything), 'ConfigMap', 'monitor-dashboard');
    assert.equal(map.metadata.labels?.['grafana_dashboard'], '1');
    const { uid, panels } = JSON.parse(map['data']['cronjob-monitor.json']);
    assert.equal(uid, 'cronjob-monitor');
    const ids = panels.map(({ id }: { id: number }) => id);
    assert.deepEqual(ids, [...new Set(ids)]);
    for (const { type, title, targets, gridPos } of panels) {
      assert.ok(title && gridPos.x + gridPos.w <= 24);
      if (type !== 'row') assert.ok(targets.length > 0 && targets.every(({ expr }: { expr: string }) => expr));
    }
  });
});

describe('a ServiceMonitor', { skip }, () => {
  test('finds the service of its tier, by a port that it has, slower than it times out', () => {
    const objects = render(path, everything);
    const monitors = ofKind(objects, 'ServiceMonitor');
    assert.deepEqual(
      monitors.map(({ metadata }) => metadata.name),
      ['monitor-controller', 'monitor-apiserver'],
    );
    for (const { apiVersion, metadata, spec } of monitors) {
      assert.equal(apiVersion, 'monitoring.coreos.com/v1');
      assert.equal(metadata.labels?.['release'], 'prometheus');
      const found = ofKind(objects, 'Service').filter((service) =>
        Object.entries(spec.selector.matchLabels).every(([label, value]) => service.metadata.labels?.[label] === value),
      );
      assert.equal(found.length, 1);
      assert.deepEqual(spec.namespaceSelector.matchNames, [namespace]);
      const [endpoint] = spec.endpoints;
      assert.ok(found[0]?.['spec'].ports.some(({ name }: { name: string }) => name === endpoint.port));
      assert.deepEqual([endpoint.interval, endpoint.scrapeTimeout], ['30s', '10s']);
      assert.equal(endpoint.honorLabels, true);
    }
  });

  test('sends a token by HTTPS and checks the certificate when one is given', () => {
    const objects = render(path, everything);
    const [endpoint] = ofKind(objects, 'ServiceMonitor')[0]?.['spec'].endpoints ?? [];
    assert.equal(endpoint.scheme, 'https');
    const { name } = endpoint.authorization.credentials;
    assert.equal(theOne(objects, 'Secret', name)['type'], 'kubernetes.io/service-account-token');
    assert.equal(endpoint.tlsConfig.ca.secret.name, 'metrics-tls');
    assert.equal(endpoint.tlsConfig.serverName, `monitor-controller-metrics.${namespace}.svc`);
    const reader = objects.find(
      ({ kind, metadata }) => kind === 'ClusterRoleBinding' && metadata.name.endsWith('-reader'),
    );
    const subjects = reader?.['subjects'].map(({ name: account }: { name: string }) => account);
    assert.deepEqual(subjects, ['monitor-scraper', 'prometheus']);
  });

  test('trusts the certificate that the process makes itself, and sends what token Prometheus has', () => {
    const objects = render(path, { metrics: { serviceMonitor: { enabled: true } } });
    const [endpoint] = theOne(objects, 'ServiceMonitor')['spec'].endpoints;
    assert.deepEqual(endpoint.tlsConfig, { insecureSkipVerify: true });
    assert.equal(endpoint.bearerTokenFile, '/var/run/secrets/kubernetes.io/serviceaccount/token');
  });

  test('asks plainly when metrics are not secured', () => {
    const objects = render(path, valueSets['split behind an ingress, with tokens'] ?? {});
    for (const { spec } of ofKind(objects, 'ServiceMonitor')) {
      assert.equal(spec.endpoints[0].scheme, 'http');
      assert.equal(spec.endpoints[0].authorization ?? spec.endpoints[0].tlsConfig, undefined);
    }
  });
});

describe('an HTTPRoute', { skip }, () => {
  test('leads from its gateway to the port of the service', () => {
    const objects = render(path, everything);
    const route = theOne(objects, 'HTTPRoute');
    assert.equal(route.apiVersion, 'gateway.networking.k8s.io/v1');
    const { parentRefs, hostnames, rules, ...rest } = route['spec'];
    assert.deepEqual(rest, {});
    assert.deepEqual(parentRefs, [{ name: 'gateway', namespace: 'gateways' }]);
    assert.deepEqual(hostnames, ['jobs.example.org']);
    const [{ name, port }] = rules[0].backendRefs;
    const service = theOne(objects, 'Service', name);
    assert.ok(service['spec'].ports.some((one: { port: number }) => one.port === port));
  });
});
