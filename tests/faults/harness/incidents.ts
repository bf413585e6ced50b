import { setTimeout as wait } from 'node:timers/promises';
import type { Store } from '@cronjob-monitor/shared/store';
import type { SimCluster } from '@cronjob-monitor/simcluster';
import type { HttpSink } from '../../sinks/index.ts';
import { readNumber } from '../../store/rows.ts';
import type { Script } from '../checker/index.ts';
import { namespace, until } from './bench.ts';
import {
  completeStatus,
  endedPodStatus,
  failedStatus,
  putJob,
  putPod,
  runningStatus,
  setJobStatus,
} from './objects.ts';
import { accepted, putWebhook, tells } from './receiver.ts';

const teams = 4;
const exitCode = 3;
const pieceMs = 100;
/** Instants of runs are whole seconds: the success is to be the later one. */
const recoversAfterMs = 1_500;
/** Claims of senders that are gone, and back-off. */
const heardWithinMs = 90_000;
/** A beginning, which no promise is about. */
const watchedWithinMs = 120_000;

/** What the checker has to find of runs that failed here. */
export const scriptOfIncidents = (): Script => ({ exitCodes: [exitCode], reasons: ['Error'] });

interface IncidentsDeps {
  readonly sim: SimCluster;
  readonly sink: HttpSink;
  readonly store: Store;
}

/**
 * CronJobs that fail, and perhaps recover: what the receiver has to hear of each is known. They belong to four teams, each with a
 * monitor and a channel of its own.
 */
export class Incidents {
  readonly #deps: IncidentsDeps;
  readonly #prefix: string;
  #count: number;
  readonly #expected = new Map<string, string[]>();
  /** Who failed when, and is to recover. */
  readonly #recovering = new Map<string, { readonly number: number; readonly failedAt: number }>();
  readonly #heard = new Set<string>();
  #arrivalsRead = 0;
  #next = 0;
  #flow: Promise<void> = Promise.resolve();
  /** Jobs that have ended. */
  ended = 0;

  private constructor(deps: IncidentsDeps, prefix: string, count: number) {
    this.#deps = deps;
    this.#prefix = prefix;
    this.#count = count;
  }

  /** So many CronJobs that the service watches. What ends from now on is no history. */
  static async prepare(deps: IncidentsDeps, count: number, prefix = 'job'): Promise<Incidents> {
    const { sim, sink, store } = deps;
    const incidents = new Incidents(deps, prefix, count);
    for (let team = 0; team < teams; team++) {
      putWebhook(sim, sink, channelOf(team));
      sim.objects.put({
        apiVersion: 'cronjob-monitor.io/v1alpha1',
        kind: 'CronJobMonitor',
        metadata: { name: channelOf(team), namespace },
        spec: { selector: { matchLabels: { team: String(team) } }, alerting: tells(channelOf(team)) },
      });
    }
    for (let number = 0; number < count; number++) {
      const metadata = {
        name: incidents.nameOf(number),
        namespace,
        labels: { team: String(number % teams) },
      };
      const spec = { schedule: '0 0 1 1 *', jobTemplate: { spec: { template: { spec: {} } } } };
      sim.objects.put({ apiVersion: 'batch/v1', kind: 'CronJob', metadata, spec });
    }
    const targets = `select count(*) as n from monitor_targets t join cronjobs c on c.id = t.cronjob_id where c.name like '${prefix}-%'`;
    const areWatched = async (): Promise<boolean> => (await readNumber(store, targets).catch(() => 0)) >= count;
    await until('all of them are watched', areWatched, watchedWithinMs);
    await wait(1_000); // instants of runs are whole seconds
    return incidents;
  }

  nameOf(number: number): string {
    return `${this.#prefix}-${String(number).padStart(4, '0')}`;
  }

  /** From now on so many of them fail each second, until all have; every second one recovers once its failure was heard. */
  begin(perSecond: number): void {
    const pieces = async (): Promise<void> => {
      let due = 0;
      let lastFailedAt = Date.now();
      while (this.#next < this.#count || this.#recovering.size > 0) {
        if (this.#next < this.#count) lastFailedAt = Date.now();
        // What is not heard by then is lost: the comparison will say so.
        if (Date.now() - lastFailedAt > heardWithinMs) return;
        for (due += (perSecond * pieceMs) / 1_000; due >= 1; due--) this.#failNext();
        this.#recoverDue();
        await wait(pieceMs);
      }
    };
    this.#flow = pieces();
  }

  /** Those that have not failed yet never will. */
  stop(): void {
    this.#count = this.#next;
  }

  /** All of them have failed, and recovered if they do. */
  async over(): Promise<void> {
    await this.#flow;
  }

  /** By the name of the CronJob: its channel, and what is to be heard there, in order. */
  expected(): { readonly cronJob: string; readonly channel: string; readonly words: readonly string[] }[] {
    return [...this.#expected].map(([cronJob, words]) => {
      const channel = channelOf(Number(cronJob.slice(cronJob.lastIndexOf('-') + 1)) % teams);
      return { cronJob, channel, words };
    });
  }

  #failNext(): void {
    if (this.#next >= this.#count) return;
    const number = this.#next++;
    this.#end(number, 'fails');
    this.#expected.set(this.nameOf(number), ['firing jobFailed']);
    if (number % 2 === 0) this.#recovering.set(this.nameOf(number), { number, failedAt: Date.now() });
  }

  /** What recovers before a channel was told of it is not told: only what was heard of recovers. */
  #recoverDue(): void {
    const { arrivals } = this.#deps.sink;
    for (; this.#arrivalsRead < arrivals.length; this.#arrivalsRead++) {
      const arrival = arrivals[this.#arrivalsRead];
      if (arrival === undefined || !accepted(arrival)) continue;
      const { data } = JSON.parse(arrival.body) as { readonly data?: { readonly cronjob?: { readonly name: string } } };
      this.#heard.add(data?.cronjob?.name ?? '');
    }
    for (const [name, { number, failedAt }] of this.#recovering) {
      if (!this.#heard.has(name) || Date.now() - failedAt < recoversAfterMs) continue;
      this.#recovering.delete(name);
      this.#end(number, 'succeeds');
      this.#expected.get(name)?.push('resolved jobFailed');
    }
  }

  #end(number: number, how: 'fails' | 'succeeds'): void {
    const { sim } = this.#deps;
    const name = this.nameOf(number);
    const owner = sim.objects.find({ apiVersion: 'batch/v1', kind: 'CronJob', namespace, name });
    if (!owner) throw new Error(`there is no CronJob ${name}`);
    const run = `${name}-${this.#expected.has(name) ? 2 : 1}`;
    if (how === 'succeeds') {
      putJob(sim, owner, { name: run, status: completeStatus() });
    } else {
      const job = putJob(sim, owner, { name: run, status: runningStatus() });
      putPod(sim, job, { name: `${run}-x`, status: endedPodStatus(exitCode) });
      setJobStatus(sim, run, failedStatus());
    }
    this.ended++;
  }
}

function channelOf(team: number): string {
  return `team-${team}`;
}
