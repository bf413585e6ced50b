import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CronJobFacts, Instant, JobFacts, PodFacts } from '@cronjob-monitor/shared/domain';
import { createTranslator } from '@cronjob-monitor/shared/kube';
import type { Clock } from '@cronjob-monitor/shared/process';
import { beat, listDue, lockCronJobs, migrate, openStore, type Store, takeEpoch } from '@cronjob-monitor/shared/store';
import { RecordingLogger } from '@cronjob-monitor/shared/testing';
import type { ObservedWrite, SimCluster } from '@cronjob-monitor/simcluster';
import { createCaches } from '../selection/cluster-view.ts';
import { type LedgerDeps, settleSlots, StartSkew, WatchGaps, ZoneCheck } from '../evaluate/index.ts';
import { createJobIntake } from '../reconcilers/job/intake.ts';
import type { Queues } from '../reconcilers/queues.ts';
import {
  createCronJobRecords,
  createOutlooks,
  reconcileCronJobs,
  SpecSightings,
  watchCronJobs,
} from '../reconcilers/cronjob/index.ts';
import { createJobRecords, reconcileJobs } from '../reconcilers/job/index.ts';
import { sweepWhatWent } from '../term/leader-work.ts';
import { VerdictLife, type VerdictOptions } from './verdict-life.ts';
import { virtualClock } from './virtual-clock.ts';
import { type WatchedKind, watchKind } from './watched-kind.ts';

export interface LedgerRigOptions {
  readonly sim: SimCluster;
  /** `cluster.default-time-zone`; UTC if not given. */
  readonly defaultZone?: string;
  readonly graceMs?: number;
  /** Absent: slots are settled, and nothing else is asked. */
  readonly verdicts?: VerdictOptions;
  /** Ours, when it is not that of the cluster. */
  readonly clock?: Clock;
}

const batchSize = 100;

/**
 * The part of a controller that keeps the ledger of expected runs, on a simulated cluster under virtual time and a database file: real
 * caches, reconcilers and store, without connections and timers. One process of it lives at a time; `kill` and `start` stand for a crash
 * and another beginning.
 */
export class LedgerRig {
  readonly store: Store;
  readonly log = new RecordingLogger();
  readonly #options: LedgerRigOptions;
  readonly #folder: string;
  readonly #clock: Clock;
  #life: Life | undefined;
  #lives = 0;

  private constructor(options: LedgerRigOptions) {
    this.#options = options;
    this.#folder = mkdtempSync(join(tmpdir(), 'ledger-'));
    this.#clock = options.clock ?? virtualClock(options.sim);
    const path = join(this.#folder, 'monitor.db');
    this.store = openStore({ type: 'sqlite', path }, { clock: this.#clock, log: this.log });
  }

  static async open(options: LedgerRigOptions): Promise<LedgerRig> {
    const rig = new LedgerRig(options);
    await migrate(rig.store, { version: 'test' });
    // Nothing here outlives the process: it need not wait for the disk.
    await rig.store.sql.raw('pragma synchronous = off');
    return rig;
  }

  get isAlive(): boolean {
    return this.#life !== undefined;
  }

  /** A process begins: it lists everything, finds its gap, and catches up. */
  async start(): Promise<void> {
    this.#lives++;
    const holder = `pod_${this.#lives}`;
    const epoch = await takeEpoch(this.store, holder);
    this.#life = await Life.begin(
      { ...this.#options, store: this.store, clock: this.#clock, log: this.log },
      holder,
      epoch,
    );
  }

  /** What is to be done by now: reconcilers, then slots that are due. Returns at once when there is nothing. */
  async tick(): Promise<void> {
    await this.#life?.tick();
  }

  /** Ends the process without a word. `beatAt`: its last heartbeat. */
  async kill(beatAt: Instant = this.#clock.now()): Promise<void> {
    const life = this.#life;
    this.#life = undefined;
    await life?.end(beatAt);
  }

  /** Its watch of this kind breaks: writes until `resume` are seen by a new list only. */
  blind(): { resume(): void } {
    return this.#life?.blind() ?? { resume() {} };
  }

  async close(): Promise<void> {
    await this.kill();
    await this.store.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

interface LifeDeps extends LedgerRigOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: RecordingLogger;
}

/** One process. */
class Life {
  readonly #deps: LifeDeps;
  readonly #holder: string;
  readonly #epoch: number;
  readonly #caches = createCaches();
  readonly #cronJobs = new Set<string>();
  readonly #jobs = new Set<string>();
  readonly #comeBack = new Map<string, Instant>();
  readonly #asked = new Set<string>();
  readonly #sightings = new SpecSightings();
  readonly #outlookOf;
  readonly #intake;
  readonly #cronJobRecords;
  readonly #jobRecords;
  readonly #watched: WatchedKind[];
  readonly #verdicts: VerdictLife | undefined;
  readonly #syncedAt: Instant;
  #freshThroughAt: Instant;
  #blindSinceAt: Instant | undefined;
  #unobserve: () => void;
  #ledger: LedgerDeps | undefined;
  #dueAt = -Infinity;
  #ended = false;

  private constructor(deps: LifeDeps, holder: string, epoch: number) {
    this.#deps = deps;
    this.#holder = holder;
    this.#epoch = epoch;
    const { clock, store, sim } = deps;
    this.#outlookOf = createOutlooks(deps.defaultZone ?? 'UTC');
    this.#cronJobRecords = createCronJobRecords(store, epoch);
    this.#jobRecords = createJobRecords(
      { store, epoch, redaction: { messages: (texts) => Promise.resolve(texts) } },
      {
        judge: async (tx, counted) => this.#verdicts?.judge(tx, counted),
        committed: () => {},
      },
    );
    this.#intake = createJobIntake({
      pods: this.#caches.pods,
      queue: (uid) => this.#jobs.add(uid),
      onDropped: () => {},
      clock,
    });
    const translator = createTranslator();
    const onCronJob = watchCronJobs({
      queue: (uid) => this.#cronJobs.add(uid),
      queueMonitorsAround: () => {},
      departed: () => {},
      sightings: this.#sightings,
      unwatchedSinceAt: () => this.#blindSinceAt,
      clock,
    });
    this.#watched = [
      watchKind<CronJobFacts>('CronJob', this.#caches.cronJobs.own, (raw) => translator.cronJob(raw), onCronJob),
      watchKind<JobFacts>('Job', this.#caches.jobs, (raw) => translator.job(raw), this.#intake.onJob),
    ];
    if (deps.verdicts) {
      const onPod = this.#intake.onPod;
      this.#watched.push(watchKind<PodFacts>('Pod', this.#caches.pods, (raw) => translator.pod(raw), onPod));
      this.#verdicts = new VerdictLife(deps.verdicts, {
        store,
        epoch,
        clock,
        logger: deps.log,
        caches: this.#caches,
        intake: this.#intake,
        ledger: () => this.#ledger,
        syncedAt: () => this.#syncedAt,
        defaultZone: deps.defaultZone ?? 'UTC',
      });
    }
    this.#syncedAt = clock.now();
    this.#freshThroughAt = clock.now();
    this.#list();
    this.#unobserve = sim.observe((write) => this.#notice(write));
  }

  static async begin(deps: LifeDeps, holder: string, epoch: number): Promise<Life> {
    const life = new Life(deps, holder, epoch);
    const { store, log } = deps;
    const defaultZone = deps.defaultZone ?? 'UTC';
    const gaps = await WatchGaps.open(
      { store, epoch, logger: log },
      {
        sinceAt: life.#syncedAt,
        blindSpans: [],
        generationOf: (uid) => life.#caches.cronJobs.find(uid)?.generation,
      },
    );
    life.#ledger = {
      gaps,
      startSkew: await StartSkew.load(store),
      zones: await ZoneCheck.load(store, defaultZone),
      defaultZone,
      findCronJob: (uid) => life.#caches.cronJobs.find(uid),
      isMonitored: () => true,
      jobsOf: (uid) => life.#caches.jobs.listBy('cronJob', uid),
      unrecorded: () => life.#intake.snapshots.uids().flatMap((uid) => life.#intake.snapshots.find(uid)?.state ?? []),
      namespaceDeletingAt: () => undefined,
      isSpecPending: (uid) => life.#sightings.has(uid),
      graceMsOf: () => deps.graceMs ?? 120_000,
      isExcluded: (uid, at) => life.#verdicts?.isExcluded(uid, at) ?? false,
      freshThroughAt: () => (life.#blindSinceAt === undefined ? deps.clock.now() : life.#freshThroughAt),
      newestStartAt: () =>
        life.#caches.cronJobs
          .values()
          .reduce<Instant | undefined>((newest, { lastScheduleAt }) => later(newest, lastScheduleAt), undefined),
    };
    const queue = (keys: Set<string>): { add(key: string): void } => ({ add: (key) => void keys.add(key) });
    await sweepWhatWent(
      {
        store,
        caches: life.#caches,
        intake: life.#intake,
        // Of the queues it only adds keys.
        queues: {
          CronJobHandler: queue(life.#cronJobs),
          CronJobMonitor: queue(new Set()),
          AlertChannel: queue(new Set()),
        } as unknown as Queues,
      },
      epoch,
    );
    await life.#reconcile();
    if (life.#verdicts) await life.#verdicts.work();
    else await life.#settle(await listIds(store));
    gaps.report();
    return life;
  }

  async tick(): Promise<void> {
    const { store, clock } = this.#deps;
    await this.#reconcile();
    if (this.#verdicts) return this.#verdicts.work();
    const ids = await listIds(store, [...this.#asked]);
    this.#asked.clear();
    const due = this.#dueAt <= clock.now() ? await listDue(store, clock.now(), 100_000, ['slots']) : [];
    await this.#settle([...new Set([...ids, ...due.map(({ cronJobId }) => cronJobId)])]);
  }

  blind(): { resume(): void } {
    this.#freshThroughAt = this.#deps.clock.now();
    this.#blindSinceAt = this.#deps.clock.now();
    this.#unobserve();
    return {
      resume: () => {
        if (this.#ended || this.#blindSinceAt === undefined) return;
        this.#ledger?.gaps.noteBlind({ fromAt: this.#blindSinceAt, toAt: this.#deps.clock.now() });
        this.#list();
        this.#blindSinceAt = undefined;
        this.#unobserve = this.#deps.sim.observe((write) => this.#notice(write));
      },
    };
  }

  async end(beatAt: Instant): Promise<void> {
    this.#unobserve();
    this.#verdicts?.end();
    this.#ended = true;
    await beat(this.#deps.store, {
      holder: this.#holder,
      version: 'test',
      leading: true,
      epoch: this.#epoch,
      startedAt: this.#syncedAt,
      beatAt,
      schedulers: [],
      evaluatedAt: undefined,
      figures: {
        watchAgeMs: { Job: this.#blindSinceAt === undefined ? 0 : this.#deps.clock.now() - this.#blindSinceAt },
      },
    });
  }

  #list(): void {
    for (const kind of this.#watched) {
      kind.diff.beginList();
      const apiVersion = kind.kind === 'Pod' ? 'v1' : 'batch/v1';
      const objects = this.#deps.sim.objects.list({ apiVersion, kind: kind.kind });
      for (const object of objects) kind.observe(object);
      for (const event of kind.diff.finishList()) void kind.handler(event);
    }
  }

  #notice({ type, object }: ObservedWrite): void {
    const kind = this.#watched.find((watched) => watched.kind === object.kind);
    if (type === 'DELETED') kind?.observeDeleted(object);
    else kind?.observe(object);
  }

  async #reconcile(): Promise<void> {
    const { clock } = this.#deps;
    const now = clock.now();
    for (const [uid, at] of this.#comeBack) {
      if (at > now) continue;
      this.#comeBack.delete(uid);
      this.#jobs.add(uid);
    }
    while (this.#cronJobs.size > 0) {
      const uids = take(this.#cronJobs);
      await reconcileCronJobs(uids, {
        cronJobs: this.#caches.cronJobs,
        isMonitored: () => true,
        records: this.#cronJobRecords,
        sightings: this.#sightings,
        clock,
        outlookOf: this.#outlookOf,
        watchedUntilAt: this.#ledger?.gaps.watchedUntilAt,
        onFirstProjected: (first) => this.#ask(first),
        onRespecified: (respecified) => this.#ask(respecified),
      });
      await this.#verdicts?.project();
    }
    while (this.#jobs.size > 0) {
      const again = await reconcileJobs(take(this.#jobs), {
        sources: {
          jobs: this.#caches.jobs,
          snapshots: this.#intake.snapshots,
          untold: this.#intake.untold,
          pods: this.#intake.pods,
          refusalOf: () => undefined,
          findCronJob: (uid) => this.#caches.cronJobs.find(uid),
          isMonitored: () => true,
          takesJob: ({ marks }) => marks === undefined,
        },
        records: this.#jobRecords,
        clock,
        watchingSinceAt: this.#syncedAt,
        factsFromLogs: () => false,
        inMaintenance: (uid, at) => this.#verdicts?.isExcluded(uid, at) ?? false,
        expectEvidence: () => {},
        captureEvidence: () => {},
        release: ({ snapshot, held }) => {
          if (held) this.#intake.snapshots.forget(snapshot.job.uid, held);
          return undefined;
        },
        onFacts: (uids) => this.#ask(uids),
        onCompleted: (uids) => this.#ask(uids),
        onRecorded: (runs) => {
          for (const { execution } of runs) this.#verdicts?.recorded(execution.cronJobUid);
        },
        onUndecided: (cronJobUid, jobUid, isUndecided) => this.#intake.markUndecided(cronJobUid, jobUid, isUndecided),
      });
      for (const [uid, at] of again) if (at !== undefined) this.#comeBack.set(uid, at);
    }
  }

  #ask(uids: readonly string[]): void {
    this.#verdicts?.ask(uids);
    for (const uid of uids) this.#asked.add(uid);
  }

  async #settle(ids: readonly number[]): Promise<void> {
    const ledger = this.#ledger;
    if (!ledger) return;
    for (let from = 0; from < ids.length; from += batchSize) {
      const batch = ids.slice(from, from + batchSize);
      await this.#deps.store.fenced(this.#epoch, async (tx) => {
        await lockCronJobs(tx, batch);
        await settleSlots(tx, batch, ledger, tx.now());
      });
    }
    const [next] = await listDue(this.#deps.store, Number.MAX_SAFE_INTEGER, 1, ['slots']);
    this.#dueAt = next?.at ?? Infinity;
  }
}

async function listIds(store: Store, uids?: readonly string[]): Promise<number[]> {
  if (uids?.length === 0) return [];
  const found = await store.sql('cronjobs').select('id', 'uid_text').whereNull('deleted_at').orderBy('id');
  const wanted = uids && new Set(uids);
  return found.flatMap((row: { id: unknown; uid_text: string }) =>
    !wanted || wanted.has(row.uid_text) ? Number(row.id) : [],
  );
}

function take(keys: Set<string>): string[] {
  const taken = [...keys].slice(0, batchSize);
  for (const key of taken) keys.delete(key);
  return taken;
}

function later(a: Instant | undefined, b: Instant | undefined): Instant | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}
