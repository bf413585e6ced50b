import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { aCronJob, jobSpec, paths, type CronJobShape, type JobShape } from '../../cluster/kube-objects.ts';
import type { RealCluster } from '../../realcluster/real-cluster.ts';
import { parseMail, type HttpSink, type Mail, type SmtpSink } from '../../sinks/index.ts';
import type { Installation } from '../installation/installation.ts';

export const namespace = 'prod';

/** What the receiver of a webhook was told of an alert. */
interface Told {
  readonly at: number;
  readonly id: string;
  /** alert.firing, alert.resolved … */
  readonly kind: string;
  readonly answered: number | string;
  readonly data: ToldAlert;
}

interface ToldAlert {
  readonly alert: {
    readonly id: string;
    readonly type: string;
    readonly subject: string | null;
    readonly severity: string;
    readonly since: string;
    readonly state: string;
    readonly title: string;
    readonly message: string;
    readonly occurrences: number;
    readonly heldBy: string | null;
    readonly delayed: boolean;
  };
  readonly cronjob: { readonly namespace: string; readonly name: string; readonly lastSuccess: string | null };
  readonly job: { readonly name: string; readonly exitCode: number | null; readonly reason: string | null } | null;
  readonly context: { readonly logs: string | null; readonly suggestedFix: string | null };
}

/** A cluster, a service that watches it, and receivers: what people do there, and what arrives. */
export class Scene {
  readonly cluster: RealCluster;
  readonly service: Installation;
  readonly hook: HttpSink;
  readonly mail: SmtpSink;

  constructor(cluster: RealCluster, service: Installation, hook: HttpSink, mail: SmtpSink) {
    this.cluster = cluster;
    this.service = service;
    this.hook = hook;
    this.mail = mail;
  }

  async create(path: string, body: object): Promise<{ readonly uid: string }> {
    const { status, body: made } = await this.cluster.request('POST', path, { body });
    assert.ok(status === 201 || status === 409, `${path}: ${status} ${JSON.stringify(made)}`);
    return made.metadata as { uid: string };
  }

  /** A CronJob that runs by hand only, unless its shape says otherwise, and who watches it: its messages go to a path of its own. */
  async watch(name: string, spec: object, shape: CronJobShape = {}, channels = [name]): Promise<void> {
    for (const channel of channels) await this.webhook(channel);
    await this.monitor(name, name, spec, channels);
    await this.create(paths.cronJobs(namespace), aCronJob(name, shape));
  }

  async monitor(name: string, cronJob: string, spec: object, channels: readonly string[]): Promise<void> {
    const { alerting = {}, ...rest } = spec as { alerting?: object };
    await this.create(paths.monitors(namespace), {
      apiVersion: 'cronjob-monitor.io/v1alpha1',
      kind: 'CronJobMonitor',
      metadata: { name },
      spec: {
        selector: { matchNames: [cronJob] },
        ...rest,
        alerting: { channelRefs: channels.map((channel) => ({ name: channel })), ...alerting },
      },
    });
  }

  /** A channel to the receiver's path of this name. `hasSecret` false: it is made later. */
  async webhook(name: string, { hasSecret = true }: { hasSecret?: boolean } = {}): Promise<void> {
    if (hasSecret) await this.secret(name, { url: `${this.hook.url}/${name}` });
    const webhook = { urlSecretRef: { name, namespace, key: 'url' } };
    await this.channel(name, { type: 'webhook', webhook });
  }

  async channel(name: string, spec: object): Promise<void> {
    await this.create('/apis/cronjob-monitor.io/v1alpha1/alertchannels', {
      apiVersion: 'cronjob-monitor.io/v1alpha1',
      kind: 'AlertChannel',
      metadata: { name },
      spec,
    });
  }

  async secret(name: string, stringData: Readonly<Record<string, string>>): Promise<void> {
    const labels = { 'cronjob-monitor.io/channel-secret': 'true' };
    await this.create(`/api/v1/namespaces/${namespace}/secrets`, { metadata: { name, labels }, stringData });
  }

  async patchCronJob(name: string, spec: object): Promise<void> {
    const { status } = await this.cluster.request('PATCH', paths.cronJobs(namespace, name), {
      body: { spec },
      contentType: 'application/merge-patch+json',
    });
    assert.equal(status, 200);
  }

  async remove(path: string): Promise<void> {
    const { status } = await this.cluster.request('DELETE', path, { body: { propagationPolicy: 'Background' } });
    assert.ok(status === 200 || status === 202 || status === 404, `${path}: ${status}`);
  }

  /** A run started by hand that ends as told. */
  async run(cronJob: string, outcome: string, shape: JobShape = {}): Promise<string> {
    const { body: owner } = await this.cluster.request('GET', paths.cronJobs(namespace, cronJob));
    const name = `${cronJob}-${Math.random().toString(36).slice(2, 8)}`;
    await this.create(paths.jobs(namespace), {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: {
        name,
        annotations: { 'cronjob.kubernetes.io/instantiate': 'manual' },
        ownerReferences: [
          { apiVersion: 'batch/v1', kind: 'CronJob', name: cronJob, uid: owner.metadata.uid, controller: true },
        ],
      },
      spec: jobSpec({ ...shape, play: { outcome, seconds: '1', log: `log of ${outcome}`, ...shape.play } }),
    });
    return name;
  }

  /** Rows of the CronJob and of its monitor are there: what ends from now on is no history. */
  async untilWatched(...cronJobs: readonly string[]): Promise<void> {
    for (const name of cronJobs) {
      await this.service.until(`${name} is watched`, async () => {
        const answer = await fetch(`${this.service.api}/api/v1/cronjobs/${namespace}/${name}`);
        const body = (await answer.json().catch(() => ({}))) as { monitors?: readonly unknown[] };
        return answer.ok && (body.monitors?.length ?? 0) > 0;
      });
    }
  }

  /** What arrived at the path of this channel and was accepted, in order. */
  told(channel: string): Told[] {
    return this.hook.arrivals
      .filter(({ path }) => path === `/${channel}`)
      .map(({ at, body, headers, answered }) => {
        const { type, data } = JSON.parse(body) as { type: string; data: ToldAlert };
        return { at, id: String(headers['webhook-id']), kind: type, answered, data };
      });
  }

  /** Kind, type and subject of what was accepted. */
  heard(channel: string): string[] {
    return this.told(channel)
      .filter(({ answered }) => answered === 200)
      .map(({ kind, data: { alert } }) => `${kind} ${alert.type}${alert.subject === null ? '' : `/${alert.subject}`}`);
  }

  /** Once this was heard; rejects when it is not in time. */
  async untilHeard(channel: string, expected: readonly string[], withinMs = 60_000): Promise<void> {
    const endsAt = performance.now() + withinMs;
    while (JSON.stringify(this.heard(channel)) !== JSON.stringify(expected)) {
      if (performance.now() > endsAt) {
        const alerts = await this.service.ask('/api/v1/alerts').catch(String);
        const failure = `${JSON.stringify(alerts)}\n${this.service.tail()}`;
        assert.deepEqual(this.heard(channel), expected, failure);
      }
      await wait(100);
    }
  }

  mails(to: string): Mail[] {
    return this.mail.log.arrivals.filter((arrival) => arrival.to.includes(to)).map(({ raw }) => parseMail(raw));
  }

  async openAlerts(
    cronJob: string,
  ): Promise<{ id: string; type: string; state: string; suppressedBy: string | null }[]> {
    const path = `/api/v1/alerts?cronjob=${cronJob}&state=pending,active,suppressed`;
    const { items } = await this.service.ask<{
      items: { id: string; type: string; state: string; suppressedBy: string | null }[];
    }>(path);
    return items;
  }
}
