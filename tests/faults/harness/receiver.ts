import type { SimCluster } from '@cronjob-monitor/simcluster';
import type { HttpSink } from '../../sinks/index.ts';
import { namespace, until } from './bench.ts';

/** What lets a process tell receivers on loopback at once, looking each second (stack.md section 11). */
export const tellsLoopback = {
  'channels.allow-cidrs': '127.0.0.0/8',
  'channels.secret-namespaces': '*',
  'scheduler.startup-grace-period': '0s',
  'scheduler.dead-man-switch-interval': '1s',
  'scheduler.stuck-job-check-interval': '1s',
  'scheduler.sla-recalculation-interval': '2s',
  'rate-limits.max-alerts-per-minute': 10_000,
  'rate-limits.burst-limit': 1_000,
} as const;

/** What a monitor says to tell this channel of all that it finds. */
export function tells(channel: string, more: object = {}): object {
  const includeContext = { logs: false, events: false, podStatus: false };
  return { channelRefs: [{ name: channel }], includeContext, ...more };
}

/** A webhook to a path of the receiver that has the channel's name, with the Secret it needs. */
export function putWebhook(sim: SimCluster, sink: HttpSink, name: string): void {
  putSecret(sim, name, { url: `${sink.url}/${name}` });
  putChannel(sim, name, {
    type: 'webhook',
    webhook: { urlSecretRef: { name, namespace, key: 'url' } },
    rateLimiting: { maxAlertsPerHour: 100_000, burstLimit: 10_000 },
  });
}

export function putChannel(sim: SimCluster, name: string, spec: object): void {
  sim.objects.put({
    apiVersion: 'cronjob-monitor.io/v1alpha1',
    kind: 'AlertChannel',
    metadata: { name },
    spec,
  });
}

export function putSecret(
  sim: SimCluster,
  name: string,
  values: Readonly<Record<string, string>>,
  of: string = namespace,
): void {
  const labels = { 'cronjob-monitor.io/channel-secret': 'true' };
  const data = Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  );
  sim.objects.put({ apiVersion: 'v1', kind: 'Secret', metadata: { namespace: of, name, labels }, data });
}

/** One message about one alert, as the receiver of a webhook got it. */
export interface ToldOf {
  readonly key: string;
  readonly cronJob: string;
  /** `firing jobStuck/notStarted`. */
  readonly words: string;
  readonly at: number;
  readonly answered: number | string;
  readonly data: Readonly<Record<string, unknown>>;
}

interface ToldData {
  readonly alert?: { readonly type: string; readonly subject: string | null };
  readonly cronjob?: { readonly name: string };
}

/** The receiver took it: what it refused was not told. */
export const accepted = ({ answered }: Pick<ToldOf, 'answered'>): boolean => answered === 200;

/** All that arrived at the channel's path, digests too, in order. */
export function told(sink: HttpSink, channel: string): ToldOf[] {
  return sink.arrivals
    .filter(({ path }) => path === `/${channel}`)
    .map(({ at, body, headers, answered }) => {
      const { type, data } = JSON.parse(body) as { type: string; data: ToldData & Record<string, unknown> };
      const { alert, cronjob } = data;
      const about = alert && `${alert.type}${alert.subject === null ? '' : `/${alert.subject}`}`;
      const words = [type.replace('alert.', ''), about].filter((word) => word !== undefined).join(' ');
      return { key: String(headers['idempotency-key']), cronJob: cronjob?.name ?? '', words, at, answered, data };
    });
}

/** What the receiver accepted about one CronJob. */
export function heardOf(sink: HttpSink, channel: string, cronJob: string): string[] {
  return told(sink, channel)
    .filter((message) => message.cronJob === cronJob && accepted(message))
    .map(({ words }) => words);
}

/** Resolves once exactly this was accepted about the CronJob; throws with what was. */
export async function untilHeard(
  sink: HttpSink,
  of: { readonly channel: string; readonly cronJob: string },
  expected: readonly string[],
  withinMs = 20_000,
): Promise<void> {
  const heard = (): string => JSON.stringify(heardOf(sink, of.channel, of.cronJob));
  await until(
    () => `${of.cronJob} is told ${JSON.stringify(expected)}, not ${heard()}`,
    () => heard() === JSON.stringify(expected),
    withinMs,
  );
}
