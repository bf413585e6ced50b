import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { runCommand } from '@cronjob-monitor/controller/testing';
import type { Alert, AlertList, CronJobDetail, CronJobRoutes, MonitorPreview } from '@cronjob-monitor/shared/contract';
import { aCronJob, jobSpec, paths } from '../cluster/kube-objects.ts';
import { randomOf } from '../faults/ledger/seeded.ts';
import { namespace, type Scene } from './alerting/scene.ts';
import { findStage, hasty } from './alerting/stage.ts';
import { dayMs } from '@cronjob-monitor/shared/domain';

const day = (days: number): string => new Date(Date.now() + days * dayMs).toISOString().slice(0, 10);

/** Values of each annotation, valid and invalid ones, and an annotation that the service does not know. */
const values: Readonly<Record<string, readonly string[]>> = {
  channel: ['shop-chat', 'data-chat, shop-chat', 'open', 'gone', 'Bad Name', 'a,b,c,d,e,f', ''],
  severity: ['critical', 'warning', 'jobFailed=critical,missedSchedule=warning', 'jobFailed=fatal', 'info'],
  grace: ['5m', '5', '-1m'],
  'max-duration': ['45m', 'off', 'soon'],
  'finish-by': ['06:00', '25:00', '06:00 Europe/Berlin', '06:00 Mars/Base', 'off'],
  'mute-until': [day(2), day(60), '2026-02-30', 'tomorrow'],
  ignore: ['true', 'yes'],
  owner: ['data', 'shop', 'nobody-knows', ''],
  chanel: ['open'],
};
const random = randomOf(Number(process.env['SEED'] ?? 22));
/** Some words, each with one of its values. */
function said(words: readonly string[]): Record<string, string> {
  const drawn = words.flatMap((word): [string, string][] => {
    return random.chance(1 / 3) ? [[`cronjob-monitor.io/${word}`, random.one(values[word] ?? [])]] : [];
  });
  return Object.fromEntries(drawn);
}

const words = Object.keys(values);
const namespaces = Array.from({ length: 8 }, (_, number) => ({
  name: `team-${number}`,
  annotations: said(words.filter((word) => word !== 'ignore' && word !== 'mute-until')),
}));
const cronJobs = Array.from({ length: 200 }, (_, number) => ({
  namespace: `team-${number % 8}`,
  name: `c-${number}`,
  annotations: said(words),
}));

/** Who admits whom: `open` admits monitors of all namespaces and annotations of none. */
const channels: Readonly<Record<string, readonly string[] | undefined>> = {
  'on-call': undefined,
  'shop-chat': [namespace, 'team-*'],
  'data-chat': [namespace, 'team-0', 'team-1', 'team-5'],
  open: undefined,
};
const names = Object.keys(channels);
const alerting = {
  channelRefs: [{ name: 'on-call' }],
  routes: [{ name: 'owner', channels: ['{{ .Owner }}-chat'] }],
};
/** One lets owners say everything, the other lets them name channels alone. */
const monitors = {
  free: { selector: { namespaces: ['team-0', 'team-1', 'team-2', 'team-3'] }, alerting },
  strict: {
    selector: { namespaces: ['team-4', 'team-5', 'team-6', 'team-7'] },
    allowOverrides: ['channel', 'mute-until'],
    alerting,
  },
};

/** What one of them says about a failure of a CronJob. */
interface Says {
  readonly severity: string;
  readonly channels: readonly string[];
}

const stage = await findStage('sqlite');

describe('200 CronJobs with random annotations, in Namespaces with some', { skip: stage.skip }, () => {
  const { cluster } = stage;
  const keyOf = (one: { readonly namespace: string; readonly name: string }) => `${one.namespace}/${one.name}`;
  const details = new Map<string, CronJobDetail>();
  const routes = new Map<string, CronJobRoutes['routes'][number]>();
  const alerts = new Map<string, Alert>();
  let scene: Scene;

  before(async () => {
    scene = await stage.begin(hasty);
    for (const [name, allowedNamespaces] of Object.entries(channels)) {
      await scene.secret(name, { url: `${scene.hook.url}/${name}` });
      const rateLimiting = { maxAlertsPerHour: 100_000, burstLimit: 10_000 };
      const webhook = { urlSecretRef: { name, namespace, key: 'url' } };
      await scene.channel(name, {
        type: 'webhook',
        webhook,
        rateLimiting,
        ...(allowedNamespaces && { allowedNamespaces }),
      });
    }
    for (const { name, annotations } of namespaces) {
      const consent = { 'cronjob-monitor.io/monitored-from': namespace };
      await scene.create('/api/v1/namespaces', { metadata: { name, annotations: { ...annotations, ...consent } } });
    }
    for (const [name, spec] of Object.entries(monitors))
      await scene.create(paths.monitors(namespace), aMonitor(name, spec));
    for (const one of cronJobs) await scene.create(paths.cronJobs(one.namespace), aCronJob(one.name, one));
    const ignored = cronJobs.filter(isIgnored).length;
    let seen = '';
    const expected = `${200 - ignored} and ${ignored} ignored`;
    await scene.service
      .until(`${expected} are known`, async () => {
        const { summary } = await scene.service.ask<{ summary: { cronJobs: number; ignored: number } }>(
          '/api/v1/coverage',
        );
        return (seen = `${summary.cronJobs} and ${summary.ignored} ignored`) === expected;
      })
      .catch((error: unknown) => assert.equal(seen, expected, String(error).slice(0, 2_000)));
    for (const one of cronJobs.filter((each) => !isIgnored(each))) {
      const path = `/api/v1/cronjobs/${keyOf(one)}`;
      details.set(keyOf(one), await scene.service.ask<CronJobDetail>(path));
      const [route] = (await scene.service.ask<CronJobRoutes>(`${path}/route?type=jobFailed`)).routes;
      if (route) routes.set(keyOf(one), route);
    }
    for (const one of cronJobs) await fail(one);
    await scene.service.until(
      'each failure has an alert that was told or is held',
      async () => {
        for (const offset of [0, 100]) {
          const query = `type=jobFailed&limit=100&offset=${offset}&state=pending,active,suppressed`;
          const { items } = await scene.service.ask<AlertList>(`/api/v1/alerts?${query}`);
          for (const alert of items) alerts.set(keyOf(alert.cronjob), alert);
        }
        const isSettled = ({ state, told }: Alert) => state === 'suppressed' || told.state === 'sent';
        return alerts.size === 200 - ignored && [...alerts.values()].every(isSettled);
      },
      240_000,
    );
  });
  after(async () => {
    await stage.end(scene);
  });

  test('each kind of value was drawn, and a CronJob that is ignored has no route and no alert', () => {
    for (const [word, of] of Object.entries(values))
      for (const value of of)
        assert.ok(
          cronJobs.some(({ annotations }) => annotations[`cronjob-monitor.io/${word}`] === value),
          `${word}: ${value}`,
        );
    for (const one of cronJobs)
      assert.deepEqual(
        [routes.has(keyOf(one)), alerts.has(keyOf(one))],
        [!isIgnored(one), !isIgnored(one)],
        keyOf(one),
      );
  });

  test('what is told has the severity and the channels that its route foretold', () => {
    for (const [key, route] of routes) {
      const alert = alerts.get(key) ?? assert.fail(key);
      const isMuted = route.holds.some(({ reason, ref }) => reason === 'silence' && ref === 'annotation');
      assert.equal(alert.suppressedBy === 'silence', isMuted, `${key}: ${JSON.stringify(route.holds)}`);
      assert.equal(alert.severity, route.severity, key);
      const arrived = names.filter((name) => arrivals(name).has(key));
      assert.deepEqual(arrived, isMuted ? [] : names.filter((name) => ofRoute(route).channels.includes(name)), key);
      for (const name of arrived) assert.equal(arrivals(name).get(key), route.severity, key);
    }
    assert.ok(
      [...routes.values()].some(({ holds }) => holds.length > 0),
      'some are muted',
    );
  });

  test('a preview of the same rules says the same of the failures that were', async () => {
    const previewed = new Map<string, Says>();
    for (const [name, spec] of Object.entries(monitors)) {
      const preview = await previewOf(name, spec);
      assert.equal(preview.alerts.omitted, 0);
      for (const { type, cronjob, severity, channels: told } of preview.alerts.items)
        if (type === 'jobFailed') previewed.set(keyOf(cronjob), { severity, channels: told.toSorted() });
    }
    assert.deepEqual(
      Object.fromEntries([...previewed].toSorted(([a], [b]) => a.localeCompare(b))),
      Object.fromEntries(
        [...routes].map(([key, route]) => [key, ofRoute(route)] as const).toSorted(([a], [b]) => a.localeCompare(b)),
      ),
    );
  });

  test('lint finds in the files what the service says of the cluster', async () => {
    const files = [
      ...namespaces.map(({ name, annotations }) => ({
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name, annotations },
      })),
      ...Object.entries(channels).map(([name, allowedNamespaces]) => ({
        apiVersion: 'cronjob-monitor.io/v1alpha1',
        kind: 'AlertChannel',
        metadata: { name },
        spec: {
          type: 'webhook',
          webhook: { urlSecretRef: { name, namespace, key: 'url' } },
          ...(allowedNamespaces && { allowedNamespaces }),
        },
      })),
      ...Object.entries(monitors).map(([name, spec]) => aMonitor(name, spec)),
      ...cronJobs.map((one) => {
        const { metadata, ...cronJob } = aCronJob(one.name, one) as { readonly metadata: object };
        return { ...cronJob, metadata: { ...metadata, namespace: one.namespace } };
      }),
    ];
    const input = files.map((file) => JSON.stringify(file)).join('\n---\n');
    const { out, error } = await runCommand(['lint', '-', '--format', 'json'], { input });
    assert.equal(error, '');
    const findings: readonly { readonly code: string | null; readonly message: string }[] = JSON.parse(out);
    const linted = findings.filter(({ code }) => code === 'AnnotationInvalid').map(({ message }) => message);
    const shown = cronJobs
      .filter((one) => !isIgnored(one))
      .flatMap((one) =>
        (details.get(keyOf(one))?.annotationProblems ?? [])
          .filter((problem) => !problem.endsWith('does not allow it'))
          .map((problem) => {
            const [object = '', ...rest] = problem.split(': ');
            const isOwn = object === keyOf(one);
            return `${keyOf(one)}: ${rest.join(': ')}${isOwn ? '' : ` (Namespace ${object})`}`;
          }),
      );
    assert.deepEqual(linted.toSorted(), shown.toSorted());
    assert.ok(shown.length > 100, String(shown.length));
  });

  function isIgnored({ namespace: where, annotations }: (typeof cronJobs)[number]): boolean {
    return annotations['cronjob-monitor.io/ignore'] === 'true' && monitors.free.selector.namespaces.includes(where);
  }

  function ofRoute({ severity, channels: told }: CronJobRoutes['routes'][number]): Says {
    return { severity, channels: told.map(({ name }) => name).toSorted() };
  }

  /** By CronJob, the severity of what this channel was told. */
  function arrivals(channel: string): ReadonlyMap<string, string> {
    return new Map(
      scene
        .told(channel)
        .filter(({ data }) => data.alert.type === 'jobFailed')
        .map(({ data }) => [keyOf(data.cronjob), data.alert.severity]),
    );
  }

  async function previewOf(name: string, spec: object): Promise<MonitorPreview> {
    const answer = await fetch(`${scene.service.api}/api/v1/monitors/preview`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ namespace, name, spec, days: 1 }),
    });
    const body = await answer.text();
    assert.equal(answer.status, 200, body);
    return JSON.parse(body) as MonitorPreview;
  }

  async function fail(one: { readonly namespace: string; readonly name: string }): Promise<void> {
    const { body: owner } = await cluster.request('GET', paths.cronJobs(one.namespace, one.name));
    await scene.create(paths.jobs(one.namespace), {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: {
        name: `${one.name}-run`,
        annotations: { 'cronjob.kubernetes.io/instantiate': 'manual' },
        ownerReferences: [
          { apiVersion: 'batch/v1', kind: 'CronJob', name: one.name, uid: owner.metadata.uid, controller: true },
        ],
      },
      spec: jobSpec({ play: { outcome: 'exit:1', seconds: '1' } }),
    });
  }
});

function aMonitor(name: string, spec: object): object {
  return { apiVersion: 'cronjob-monitor.io/v1alpha1', kind: 'CronJobMonitor', metadata: { name, namespace }, spec };
}
