import { createClock, createSimCluster, type SimCluster, type SimClusterOptions, type VirtualClock } from './index.ts';

/** A cluster under virtual time, for one test. */
export interface Trial {
  readonly cluster: SimCluster;
  readonly clock: VirtualClock;
  /** One request as administrator. */
  readonly ask: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<TrialAnswer>;
  /** Lets requests come in that were sent, until so many watches are open. */
  readonly untilWatches: (count: number) => Promise<void>;
}

export interface TrialAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The text as JSON; undefined when it is none. */
  // oxlint-disable-next-line typescript/no-explicit-any -- bodies of a server under test, looked into by tests
  readonly body: any;
}

const trialToken = 'administrator';
/** Saturday, a minute before an hour. */
export const trialStart = Date.parse('2026-11-21T07:59:00Z');

/** Starts a cluster for a test and stops it when the test is over. */
export async function startTrial(
  test: { after(fn: () => Promise<void>): void },
  options: Omit<SimClusterOptions, 'clock' | 'token'> = {},
): Promise<Trial> {
  const clock = createClock(trialStart);
  const cluster = createSimCluster({ clock, token: trialToken, nodes: ['node-1'], schedulePods: true, ...options });
  await cluster.start();
  test.after(() => cluster.stop());
  return {
    cluster,
    clock,
    async ask(method, path, body, headers = {}) {
      const response = await fetch(new URL(path, cluster.url), {
        method,
        headers: { authorization: `Bearer ${trialToken}`, 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, body: jsonOf(text) };
    },
    async untilWatches(count) {
      while (cluster.watchCount() !== count) await new Promise((resolve) => setTimeout(resolve, 1));
    },
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface CronJobParts {
  readonly name?: string;
  readonly schedule?: string;
  /** Annotations of its pods, without their prefix. */
  readonly play?: Readonly<Record<string, string>>;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly job?: Readonly<Record<string, unknown>>;
  readonly pod?: Readonly<Record<string, unknown>>;
}

/** A CronJob in the namespace `default` that runs every minute for a second. */
export function aCronJob({ name = 'report', schedule = '* * * * *', ...parts }: CronJobParts = {}): Record<
  string,
  unknown
> {
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name, namespace: 'default' },
    spec: { schedule, ...parts.spec, jobTemplate: { spec: aJobSpec(parts) } },
  };
}

export function aJob(
  name: string,
  parts: Omit<CronJobParts, 'name' | 'schedule' | 'spec'> = {},
): Record<string, unknown> {
  return { apiVersion: 'batch/v1', kind: 'Job', metadata: { name, namespace: 'default' }, spec: aJobSpec(parts) };
}

function aJobSpec({ play = {}, job = {}, pod = {} }: CronJobParts): Record<string, unknown> {
  const annotations = Object.fromEntries(
    Object.entries(play).map(([key, value]) => [`sim.cronjob-monitor.io/${key}`, value]),
  );
  return {
    ...job,
    template: {
      metadata: { annotations },
      spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox:1' }], ...pod },
    },
  };
}

/** Jobs of the trial as `name outcome`, in order of their names. */
export function jobsOf({ objects }: SimCluster): string[] {
  return objects.list({ apiVersion: 'batch/v1', kind: 'Job' }).map(({ metadata, status }) => {
    const { conditions = [] } = (status ?? {}) as { conditions?: { type: string; status: string }[] };
    const end = conditions.find(({ type, status: is }) => is === 'True' && (type === 'Complete' || type === 'Failed'));
    return `${metadata.name} ${end?.type ?? 'runs'}`;
  });
}

/** Events of the trial as `reason message`, with `xN` for those that repeated, in the order of their names. */
export function eventsOf({ objects }: SimCluster): string[] {
  return objects.list({ apiVersion: 'v1', kind: 'Event' }).map((event) => {
    const { reason, message, count } = event as unknown as { reason: string; message: string; count: number };
    return `${reason} ${message}${count > 1 ? ` x${count}` : ''}`;
  });
}
