import type { Logger } from '@cronjob-monitor/shared/process';
import type { StoreSettings } from '@cronjob-monitor/shared/store';
import { together } from './compare.ts';
import { minuteMs, secondMs, type Disturbance, type History, type Observation } from './history.ts';
import { playKubernetes, type Change } from './kubernetes.ts';
import { readVerdicts, type Verdict } from './verdicts.ts';
import { Replica } from './replica.ts';
import { VirtualTime } from './virtual-time.ts';
import { World } from './world.ts';
import type { Shared } from './world-cluster.ts';

export interface Observed {
  readonly verdicts: readonly Verdict[];
  readonly jumps: number;
}

export interface ObserveDeps {
  /** A database that nothing was written to; asked again where it is lost half way. */
  readonly freshDatabase: () => Promise<StoreSettings>;
  readonly logger: Logger;
  /** Called at these instants and at the end of the history, while the process that leads still runs and time stands still. */
  readonly look?: (service: Replica, world: World, now: number) => Promise<void>;
  readonly lookAt?: readonly number[];
  /** Namespaces that the first process watches; those after it watch all. */
  readonly firstWatches?: readonly string[];
}

interface Act {
  readonly at: number;
  readonly act: () => Promise<void> | void;
}

/** The whole service watches a history through these disturbances. Returns what it said of it. */
export async function observe(
  history: History,
  observation: Observation,
  deps: ObserveDeps,
  played = playKubernetes(history),
): Promise<Observed> {
  return new Observer(history, observation, deps).run(played.changes);
}

const bookmarkMs = minuteMs;
/** An end in order takes no longer. */
const stopMs = 40 * secondMs;
const slowKinds = ['CronJob', 'Job', 'Pod', 'CronJobMonitor', 'Namespace'] as const;

class Observer {
  readonly #history: History;
  readonly #observation: Observation;
  readonly #deps: ObserveDeps;
  readonly #time: VirtualTime;
  readonly #shared: Shared;
  #storage!: StoreSettings;
  #replicas: Replica[] = [];
  #starts = 0;
  /** What a database said that was lost. */
  #before: readonly Verdict[] = [];

  constructor(history: History, observation: Observation, deps: ObserveDeps) {
    this.#history = history;
    this.#observation = observation;
    this.#deps = deps;
    this.#time = new VirtualTime(history.startAt);
    this.#shared = { world: new World(), leases: new Map(), now: () => this.#time.now };
  }

  async run(changes: readonly Change[]): Promise<Observed> {
    const { startAt, endAt } = this.#history;
    this.#storage = await this.#deps.freshDatabase();
    const { world } = this.#shared;
    const before = changes.filter(({ at }) => at < startAt);
    for (const { apply } of before) apply(world);
    const acts: Act[] = [
      { at: this.#observation.startsAt, act: () => this.#start() },
      ...this.#observation.disturbances.flatMap((disturbance) => this.#actsOf(disturbance)),
      ...changes.slice(before.length).map(({ at, apply }) => ({ at, act: () => apply(world) })),
    ];
    for (let at = startAt + bookmarkMs; at < endAt; at += bookmarkMs)
      acts.push({
        at,
        act: async () => {
          this.#each(({ cluster }) => cluster.bookmark());
          await this.#replaceExited();
        },
      });
    for (const at of this.#deps.lookAt ?? [])
      acts.push({ at, act: () => this.#deps.look?.(this.#leader(), world, this.#time.now) });
    acts.sort((a, b) => a.at - b.at);
    try {
      for (const [at, actsOfInstant] of Map.groupBy(acts, (act) => act.at)) {
        await this.#passUntil(at);
        const { version } = world;
        for (const { act } of actsOfInstant) await act();
        if (world.version !== version) this.#time.stir();
      }
      // Over quiet time polls are left out: they have a beat before the last look, as they have each minute on a machine.
      await this.#passUntil(endAt - minuteMs);
      this.#time.stir();
      await this.#passUntil(endAt);
      await this.#deps.look?.(this.#leader(), world, this.#time.now);
      const verdicts = await readVerdicts(this.#leader().store);
      return { verdicts: together(this.#before, verdicts), jumps: this.#time.jumps };
    } finally {
      for (const replica of this.#replicas) await replica.kill();
    }
  }

  #leader(): Replica {
    const [first] = this.#replicas.toSorted((a, b) => Number(this.#leads(b)) - Number(this.#leads(a)));
    if (!first) throw new Error('no process runs at the end of the history');
    return first;
  }

  #leads({ identity }: Replica): boolean {
    return this.#shared.leases.values().some(({ holder }) => holder === identity);
  }

  async #passUntil(at: number): Promise<void> {
    if (at <= this.#time.now) return;
    await this.#time.runUntil(at, {
      isBusy: () => this.#replicas.some(({ isBusy }) => isBusy),
      nextDueAt: () => this.#nextDueAt(),
    });
  }

  /** What the outbox and delayed alerts wait for is no timer of a process: it is asked of the database. */
  async #nextDueAt(): Promise<number> {
    const [asked, ...others] = this.#replicas.filter(({ isEnding }) => !isEnding);
    if (!asked) return Infinity;
    for (const other of others) other.handWritten(asked);
    return asked.nextDueAt();
  }

  /** As many processes as there shall be. */
  #start(): void {
    while (this.#replicas.length < (this.#observation.isElected ? 2 : 1)) this.#startOne();
  }

  async #replaceExited(): Promise<void> {
    const exited = this.#replicas.filter(({ hasExited }) => hasExited);
    if (exited.length === 0) return;
    this.#replicas = this.#replicas.filter(({ hasExited }) => !hasExited);
    for (const replica of exited) await replica.kill();
    this.#start();
  }

  #startOne(): void {
    const replica = new Replica({
      time: this.#time,
      shared: this.#shared,
      storage: this.#storage,
      identity: `pod-${this.#starts}_${this.#starts++}`,
      elects: this.#observation.isElected ?? false,
      logger: this.#deps.logger,
      watchNamespaces: this.#starts === 1 ? this.#deps.firstWatches : [],
    });
    this.#replicas.push(replica);
    this.#time.stir();
  }

  #actsOf({ kind, at, untilAt }: Disturbance): Act[] {
    const acts: Readonly<Record<Disturbance['kind'], readonly [begin: Act['act'], end: Act['act']]>> = {
      stopped: [() => this.#beginStop(), () => this.#start()],
      killed: [() => this.#kill(), () => this.#start()],
      leaderStopped: [() => this.#leader().beginStop(), () => this.#start()],
      leaderKilled: [() => this.#killLeader(), () => this.#start()],
      emptyDatabase: [() => this.#loseDatabase(), () => this.#startAnew()],
      databaseAway: [
        () => this.#each((replica) => replica.setDatabaseAway(true)),
        () => this.#each((replica) => replica.setDatabaseAway(false)),
      ],
      clusterAway: [
        () => this.#each(({ cluster }) => cluster.setAway(true)),
        () => this.#each(({ cluster }) => cluster.setAway(false)),
      ],
      slowWatch: [
        () => this.#each(({ cluster }) => cluster.hold(slowKinds)),
        () => this.#each(({ cluster }) => cluster.hold([])),
      ],
      slowJobWatch: [
        () => this.#each(({ cluster }) => cluster.hold(['Job', 'Pod'])),
        () => this.#each(({ cluster }) => cluster.hold([])),
      ],
      watchCut: [() => this.#each(({ cluster }) => cluster.cut('cut')), () => {}],
      watchExpired: [() => this.#expireWatches(), () => {}],
    };
    const [begin, end] = acts[kind];
    // What was out of reach is back: the polls look, as they do within their minute on a machine.
    const back = async (): Promise<void> => {
      await end();
      this.#time.stir();
    };
    const ending = { at: at + stopMs, act: () => this.#end() };
    return [
      { at, act: begin },
      ...(kind === 'stopped' || kind === 'leaderStopped' ? [ending] : []),
      { at: untilAt, act: back },
    ];
  }

  #each(act: (replica: Replica) => void): void {
    for (const replica of this.#replicas) act(replica);
  }

  #beginStop(): void {
    this.#each((replica) => replica.beginStop());
  }

  async #loseDatabase(): Promise<void> {
    this.#before = together(this.#before, await readVerdicts(this.#leader().store));
    await this.#kill();
  }

  async #startAnew(): Promise<void> {
    this.#storage = await this.#deps.freshDatabase();
    this.#start();
  }

  #expireWatches(): void {
    this.#shared.world.forgetEvents();
    this.#each(({ cluster }) => cluster.cut('expired'));
  }

  async #kill(): Promise<void> {
    const dead = this.#replicas;
    this.#replicas = [];
    for (const replica of dead) await replica.kill();
  }

  async #killLeader(): Promise<void> {
    const leader = this.#leader();
    this.#replicas = this.#replicas.filter((replica) => replica !== leader);
    await leader.kill();
  }

  async #end(): Promise<void> {
    const ending = this.#replicas.filter(({ isEnding }) => isEnding);
    this.#replicas = this.#replicas.filter(({ isEnding }) => !isEnding);
    for (const replica of ending) await replica.ended();
  }
}
