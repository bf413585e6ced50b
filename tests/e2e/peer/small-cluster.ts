import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import type { KubeObject, SimCluster } from '@cronjob-monitor/simcluster';
import type { JobShape } from '../../cluster/kube-objects.ts';
import { namespace, putMonitor, startBench, until, type Bench } from '../../faults/harness/bench.ts';
import { keepTalking, putCronJob, putJob } from '../../faults/harness/objects.ts';
import { heardOf, putWebhook, tells, tellsLoopback, told } from '../../faults/harness/receiver.ts';
import type { MonitorProcess } from '../../servers/index.ts';
import { HttpSink } from '../../sinks/index.ts';

/** One service on a simulated cluster with a receiver: what a person does to it, and what arrives. */
export class SmallCluster {
  readonly bench: Bench;
  readonly sink: HttpSink;
  readonly service: MonitorProcess;
  readonly #closing = new AbortController();

  private constructor(bench: Bench, sink: HttpSink, service: MonitorProcess) {
    this.bench = bench;
    this.sink = sink;
    this.service = service;
  }

  static async start(config: Readonly<Record<string, string | number | boolean>> = {}): Promise<SmallCluster> {
    const sink = await HttpSink.start();
    const bench = await startBench({ monitor: { selector: { matchNames: ['nobody'] } } });
    try {
      const service = await bench.prepare({
        config: { ...tellsLoopback, 'rate-limits.storm-threshold': 0, ...config },
      });
      await service.startReady();
      const cluster = new SmallCluster(bench, sink, service);
      keepTalking(bench.sim, cluster.#closing.signal);
      return cluster;
    } catch (error) {
      await bench.close();
      await sink.stop();
      throw error;
    }
  }

  get sim(): SimCluster {
    return this.bench.sim;
  }

  /** A CronJob, a monitor of its own, and a channel of the same name unless others are named. */
  watch(name: string, spec: object = {}, shape: Parameters<typeof putCronJob>[2] = {}, channels = [name]): KubeObject {
    for (const channel of channels) putWebhook(this.sim, this.sink, channel);
    const { alerting = {}, ...rest } = spec as { alerting?: object };
    const channelRefs = channels.map((channel) => ({ name: channel }));
    const told = { ...tells(name), channelRefs, ...alerting };
    putMonitor(this.sim, name, { selector: { matchNames: [name] }, ...rest, alerting: told });
    return putCronJob(this.sim, name, shape);
  }

  /** Its monitor is known, and a second has passed: runs end in whole seconds, and what ends from now on is no history. */
  async untilWatched(...cronJobs: readonly KubeObject[]): Promise<void> {
    for (const { metadata } of cronJobs) {
      await until(`${metadata.name} is watched`, async () => {
        const path = `/api/v1/cronjobs/${namespace}/${metadata.name}`;
        const body = await this.service.ask<{ monitors: readonly unknown[] }>(path).catch(() => undefined);
        return (body?.monitors.length ?? 0) > 0;
      });
    }
    await wait(1_000);
  }

  run(cronJob: KubeObject, number: number, outcome: string, shape: JobShape = {}): string {
    const play = { outcome, seconds: '0.2', ...shape.play };
    return putJob(this.sim, cronJob, { ...shape, play, name: `${cronJob.metadata.name}-${number}` }).metadata.name;
  }

  async runs(
    cronJob: KubeObject,
  ): Promise<readonly { readonly jobName: string; readonly status: string; readonly exitCode: number | null }[]> {
    const path = `/api/v1/cronjobs/${namespace}/${cronJob.metadata.name}/executions?limit=500`;
    const { items } = await this.service.ask<{
      items: { jobName: string; status: string; exitCode: number | null }[];
    }>(path);
    return items;
  }

  async untilRecorded(cronJob: KubeObject, count: number, withinMs = 20_000): Promise<void> {
    await until(
      `${count} runs of ${cronJob.metadata.name} are recorded`,
      async () => (await this.runs(cronJob)).length === count,
      withinMs,
    );
  }

  /** What was accepted about the CronJob on the channel of its name. */
  heard(cronJob: KubeObject, channel = cronJob.metadata.name): string[] {
    return heardOf(this.sink, channel, cronJob.metadata.name);
  }

  async untilHeard(
    cronJob: KubeObject,
    expected: readonly string[],
    { channel = cronJob.metadata.name, withinMs = 30_000 } = {},
  ): Promise<void> {
    const heard = (): string => JSON.stringify(this.heard(cronJob, channel));
    const wanted = JSON.stringify(expected);
    await until(
      () => `${cronJob.metadata.name} is told ${wanted}, not ${heard()}\n${this.service.tail(5)}`,
      () => heard() === wanted,
      withinMs,
    );
  }

  /** Names of CronJobs that the channel's receiver was told: in a message of their own, and in digests. */
  namesTold(channel: string): { readonly alone: Set<string>; readonly inDigests: Set<string> } {
    const alone = new Set<string>();
    const inDigests = new Set<string>();
    for (const { words, cronJob, data } of told(this.sink, channel)) {
      if (words !== 'digest') alone.add(cronJob);
      else for (const { name } of (data['digest'] as { alerts: { name: string }[] }).alerts) inDigests.add(name);
    }
    return { alone, inDigests };
  }

  async openAlerts(cronJob: KubeObject): Promise<readonly { readonly type: string; readonly state: string }[]> {
    const path = `/api/v1/alerts?cronjob=${cronJob.metadata.name}&state=pending,active,suppressed`;
    return (await this.service.ask<{ items: { type: string; state: string }[] }>(path)).items;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.bench.close();
    await this.sink.stop();
    assert.deepEqual(this.service.otherOutput, [], 'no trace of a crash');
  }
}
