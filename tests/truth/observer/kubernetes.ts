import type { WatchedKind } from '@cronjob-monitor/shared/kube';
import {
  hourMs,
  minuteMs,
  secondMs,
  type CronJobStory,
  type History,
  type Rhythm,
  type RunStory,
  type Zone,
} from './history.ts';
import { playGroup } from './groups.ts';
import { jobAt, podAt, podNameOf, type JobMaker } from './job-objects.ts';
import { iso, jobSpec, managed, namespaceUid } from './object-parts.ts';
import type { World } from './world.ts';

/** One change of the cluster. */
export interface Change {
  readonly at: number;
  readonly apply: (world: World) => void;
}

/** How a run went, as the cluster itself knows it. */
export interface Run {
  readonly cronJobUid: string;
  readonly jobUid: string;
  readonly jobName: string;
  readonly slotAt: number;
  readonly createdAt: number;
  /** When it was decided how it ends, where its pods end later than that. */
  readonly decidedAt: number | undefined;
  /** Undefined: it was still running when it was removed, or when the history ended. */
  readonly endedAt: number | undefined;
  readonly outcome: 'success' | 'failed' | undefined;
  /** When its Job left the cluster. */
  readonly removedAt: number | undefined;
}

export interface Played {
  readonly changes: readonly Change[];
  readonly runs: readonly Run[];
}

/** A rhythm of a week. */
export const weekHours = 168;

/** Slots of a rhythm in (after, through]. */
export function slotsOf({ everyHours, minute }: Rhythm, after: number, through: number): number[] {
  const slots: number[] = [];
  const stepMs = everyHours * hourMs;
  for (let at = Math.floor(after / stepMs) * stepMs + minute * minuteMs; at <= through; at += stepMs)
    if (at > after) slots.push(at);
  return slots;
}

export function scheduleOf({ everyHours, minute: minuteInUtc }: Rhythm, zone?: Zone): string {
  const ahead = zone?.aheadMinutes ?? 0;
  const minute = everyHours < 24 ? minuteInUtc : (minuteInUtc + ahead + everyHours * 60) % (everyHours * 60);
  const time = `${minute % 60} ${Math.floor(minute / 60) % 24}`;
  if (everyHours === 24) return `${time} * * *`;
  // Weeks are counted from the first day of 1970, a Thursday.
  if (everyHours === weekHours) return `${time} * * ${(4 + Math.floor(minute / 1_440)) % 7}`;
  return `${minute} */${everyHours} * * *`;
}

/**
 * Plays the controllers of CronJobs and Jobs and the garbage collector for a whole history: which objects are there when. It shares no
 * line with the service, and its rhythms are simple enough to be counted instead of parsed.
 */
export function playKubernetes(history: History): Played {
  const changes: Change[] = [];
  const runs: Run[] = [];
  const put = (at: number, kind: WatchedKind, object: Parameters<World['put']>[1]): void => {
    changes.push({ at, apply: (world) => void world.put(kind, object) });
  };
  const remove = (at: number, kind: WatchedKind, namespace: string, name: string): void => {
    changes.push({ at, apply: (world) => world.remove(kind, namespace, name) });
  };
  const { namespaces, monitors, cronJobs, groups = [] } = history;
  const ofObjects = [...monitors, ...cronJobs, ...groups].map(({ namespace }) => namespace);
  for (const name of new Set(['monitoring', ...ofObjects, ...namespaces.map((namespace) => namespace.name)])) {
    const {
      consents,
      letsIn,
      words = [],
    } = namespaces.find((namespace) => namespace.name === name) ?? {
      consents: [],
      letsIn: '',
    };
    const writes = [...consents, ...words].sort((a, b) => a.at - b.at);
    const wordsAt = (at: number) => words.findLast((one) => one.at <= at);
    const objectAt = (at: number) => {
      const consent = consents.findLast((one) => one.at <= at);
      return object(consent?.at, consent?.isIn === true, wordsAt(at));
    };
    const object = (at: number | undefined, isIn: boolean, said: (typeof words)[number] | undefined) => ({
      metadata: {
        uid: namespaceUid(name),
        name,
        creationTimestamp: iso(history.startAt - 30 * 24 * hourMs),
        labels: { 'kubernetes.io/metadata.name': name },
        annotations: {
          ...(isIn && { 'cronjob-monitor.io/monitored-from': letsIn }),
          ...annotationsOf(said?.words),
        },
        managedFields: [
          ...(at === undefined
            ? []
            : [managed(at, { 'f:metadata': { 'f:annotations': { 'f:cronjob-monitor.io/monitored-from': {} } } })]),
          ...(said ? [managedWords(said.at, said.words)] : []),
        ],
      },
      status: { phase: 'Active' },
    });
    put(history.startAt - 1, 'Namespace', object(undefined, false, wordsAt(history.startAt - 1)));
    for (const { at } of writes) put(at, 'Namespace', objectAt(at));
  }
  put(history.startAt - 1, 'AlertChannel', {
    metadata: {
      uid: namespaceUid('hook'),
      name: 'hook',
      generation: 1,
      creationTimestamp: iso(history.startAt - hourMs),
    },
    spec: {
      type: 'webhook',
      webhook: { urlSecretRef: { name: 'hook', namespace: 'monitoring', key: 'url' } },
      rateLimiting: history.rateLimiting ?? { maxAlertsPerHour: 100_000, burstLimit: 10_000 },
    },
  });
  for (const monitor of monitors) {
    const specs = [{ at: monitor.createdAt, spec: monitor.spec }, ...monitor.edits];
    for (const [index, { at, spec }] of specs.entries()) {
      put(at, 'CronJobMonitor', {
        metadata: {
          uid: monitor.uid,
          namespace: monitor.namespace,
          name: monitor.name,
          generation: index + 1,
          creationTimestamp: iso(monitor.createdAt),
          managedFields: [managed(at, { 'f:spec': { 'f:selector': {} } })],
        },
        spec: {
          ...spec,
          alerting: { channelRefs: [{ name: 'hook' }], suppressDuplicatesFor: '0s', ...(spec['alerting'] as object) },
        },
      });
    }
    if (monitor.deletedAt !== undefined) remove(monitor.deletedAt, 'CronJobMonitor', monitor.namespace, monitor.name);
  }
  const stories = [
    ...cronJobs.map((story) => new PlayedCronJob(story, history.endAt)),
    ...groups.map((story) => playGroup(story, history.endAt)),
  ];
  for (const played of stories) {
    changes.push(...played.changes);
    runs.push(...played.runs);
  }
  // Stable: what one story says of one instant stays in order.
  return { changes: changes.sort((a, b) => a.at - b.at), runs: runs.sort((a, b) => a.createdAt - b.createdAt) };
}

function annotationsOf(words: CronJobStory['words'] = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(words).map(([word, value]) => [`cronjob-monitor.io/${word}`, value]));
}

/** Who wrote them owns nothing else. */
function managedWords(at: number, words: NonNullable<CronJobStory['words']>): object {
  const owned = Object.keys(annotationsOf(words)).map((key) => [`f:${key}`, {}]);
  return managed(at, { 'f:metadata': { 'f:annotations': Object.fromEntries(owned) as object } }, 'owner');
}

interface LiveRun {
  readonly run: { -readonly [Field in keyof Run]: Run[Field] };
  readonly story: RunStory;
}

type Step = { readonly at: number; readonly act: () => unknown };

/** One CronJob with its Jobs and pods. */
class PlayedCronJob {
  readonly changes: Change[] = [];
  readonly runs: Run[] = [];
  readonly #story: CronJobStory;
  readonly #steps: Step[] = [];
  readonly #active: LiveRun[] = [];
  readonly #finished: LiveRun[] = [];
  #generation = 1;
  #spec: {
    rhythm: Rhythm;
    zone: Zone | undefined;
    suspend: boolean;
    tier: string;
    words: CronJobStory['words'];
    spec: CronJobStory['spec'];
  };
  #specAt: number;
  #labelsAt: number;
  #wordsAt: number;
  #lastScheduleAt: number | undefined;
  #lastSuccessAt: number | undefined;
  #isGone = false;

  constructor(story: CronJobStory, endAt: number) {
    this.#story = story;
    const { rhythm, zone, suspend, tier, words, spec } = story;
    this.#spec = { rhythm, zone, suspend, tier, words, spec };
    this.#specAt = story.createdAt;
    this.#labelsAt = story.createdAt;
    this.#wordsAt = story.createdAt;
    this.#at(story.createdAt, () => this.#write(story.createdAt));
    for (const edit of story.edits) if (edit.at <= endAt) this.#at(edit.at, () => this.#edit(edit));
    const { deletedAt } = story;
    if (deletedAt !== undefined) this.#at(deletedAt, () => this.#delete(deletedAt));
    const edited = story.edits.flatMap(({ at, rhythm }) => (rhythm ? [{ from: at, rhythm }] : []));
    const rhythms = [{ from: story.createdAt, rhythm: story.rhythm }, ...edited];
    for (const [index, { from, rhythm }] of rhythms.entries()) {
      const through = Math.min(rhythms[index + 1]?.from ?? Infinity, (deletedAt ?? Infinity) - 1, endAt);
      const slots = story.slots?.filter((at) => at > from && at <= through) ?? slotsOf(rhythm, from, through);
      for (const slotAt of slots) this.#at(slotAt, () => this.#due(slotAt));
    }
    for (const run of story.runs)
      if (run.isManual === true) this.#at(run.slotAt, () => !this.#isGone && this.#begin(run.slotAt, run));
    for (let step = this.#steps.shift(); step && step.at <= endAt; step = this.#steps.shift()) step.act();
  }

  #at(at: number, act: () => unknown): void {
    const index = this.#steps.findLastIndex((step) => step.at <= at) + 1;
    this.#steps.splice(index, 0, { at, act });
  }

  #edit({ at, suspend, tier, rhythm, zone, words, spec }: CronJobStory['edits'][number]): void {
    if (this.#isGone) return;
    const before = this.#spec;
    this.#spec = {
      rhythm: rhythm ?? before.rhythm,
      zone: zone ?? before.zone,
      suspend: suspend ?? before.suspend,
      tier: tier ?? before.tier,
      words: words ?? before.words,
      spec: spec ?? before.spec,
    };
    if (words !== undefined) this.#wordsAt = at;
    if (suspend !== undefined || rhythm !== undefined || zone !== undefined || spec !== undefined) {
      this.#generation++;
      this.#specAt = at;
    }
    // Who writes what stands there already owns it since before.
    if (tier !== undefined && tier !== before.tier) this.#labelsAt = at;
    this.#write(at);
  }

  #due(slotAt: number): void {
    const { policy, runs } = this.#story;
    if (this.#isGone || this.#spec.suspend) return;
    // The CronJob controller counts a Job that a person started for no concurrency policy.
    const active = this.#active.filter((live) => live.story.isManual !== true);
    if (policy === 'Forbid' && active.length > 0) return;
    const story = runs.find((run) => run.slotAt === slotAt) ?? { slotAt, fate: 'success', seconds: 60, exitCode: 0 };
    if (story.fate === 'neverStarted') return;
    if (policy === 'Replace') for (const live of active) this.#remove(live, slotAt);
    this.#begin(slotAt, story);
  }

  #begin(slotAt: number, story: RunStory): void {
    const { uid, name } = this.#story;
    const createdAt = slotAt + secondMs;
    const jobName = `${name}-${slotAt / minuteMs}`;
    const run = {
      cronJobUid: uid,
      jobUid: `${uid.slice(0, 24)}${(slotAt / minuteMs).toString(16).padStart(12, '0')}`,
      jobName,
      slotAt,
      createdAt,
      decidedAt: story.endingSeconds && createdAt + (Math.max(1, story.seconds) - story.endingSeconds) * secondMs,
      endedAt: undefined,
      outcome: undefined,
      removedAt: undefined,
    };
    const live: LiveRun = { run, story };
    this.#active.push(live);
    this.runs.push(run);
    this.#at(createdAt, () => {
      if (story.isManual !== true) this.#lastScheduleAt = slotAt;
      this.#writeJob(createdAt, live);
      this.#writePod(createdAt, live);
      this.#write(createdAt);
    });
    if (story.waitSeconds !== undefined) {
      const runsAt = createdAt + story.waitSeconds * secondMs;
      this.#at(runsAt, () => {
        if (run.removedAt !== undefined) return;
        this.#writePod(runsAt, live);
        this.#writeJob(runsAt, live);
      });
    }
    const { decidedAt } = run;
    if (decidedAt !== undefined) this.#at(decidedAt, () => this.#writeJob(decidedAt, live));
    const endsAt = createdAt + Math.max(1, story.seconds) * secondMs;
    this.#at(endsAt, () => (story.fate === 'deleted' ? this.#remove(live, endsAt) : this.#end(live, endsAt)));
  }

  #end(live: LiveRun, at: number): void {
    if (live.run.removedAt !== undefined) return;
    live.run.endedAt = at;
    live.run.outcome = live.story.fate === 'success' ? 'success' : 'failed';
    this.#active.splice(this.#active.indexOf(live), 1);
    this.#finished.push(live);
    if (live.story.fate === 'deadline') this.#removePod(at, live);
    else this.#writePod(at, live);
    this.#writeJob(at, live);
    if (live.run.outcome === 'success') this.#lastSuccessAt = at;
    if (!this.#isGone) this.#write(at);
    const { ttlSeconds, successLimit, failureLimit } = this.#story;
    for (const [outcome, limit] of [
      ['success', successLimit],
      ['failed', failureLimit],
    ] as const) {
      const kept = this.#finished.filter(({ run }) => run.outcome === outcome);
      for (const old of kept.slice(0, Math.max(0, kept.length - limit))) this.#remove(old, at + secondMs);
    }
    if (ttlSeconds !== undefined)
      this.#at(at + ttlSeconds * secondMs, () => this.#remove(live, at + ttlSeconds * secondMs));
  }

  #remove(live: LiveRun, at: number): void {
    if (live.run.removedAt !== undefined) return;
    live.run.removedAt = at;
    const { namespace } = this.#story;
    const { jobName } = live.run;
    this.#removePod(at, live);
    this.changes.push({ at, apply: (world) => world.remove('Job', namespace, jobName) });
    for (const list of [this.#active, this.#finished]) if (list.includes(live)) list.splice(list.indexOf(live), 1);
    if (!this.#isGone) this.#write(at);
  }

  #delete(at: number): void {
    this.#isGone = true;
    const { namespace, name, uid } = this.#story;
    this.changes.push({
      at,
      apply: (world) => {
        if (world.find('CronJob', namespace, name)?.metadata.uid === uid) world.remove('CronJob', namespace, name);
      },
    });
    for (const live of [...this.#active, ...this.#finished]) this.#remove(live, at + secondMs);
  }

  #write(at: number): void {
    const { uid, namespace, name, policy, ttlSeconds, successLimit, failureLimit, createdAt } = this.#story;
    const { rhythm, zone, suspend, tier, words, spec } = this.#spec;
    const object = {
      metadata: {
        uid,
        namespace,
        name,
        generation: this.#generation,
        creationTimestamp: iso(createdAt),
        labels: { tier },
        ...(words && { annotations: annotationsOf(words) }),
        managedFields: [
          managed(
            this.#specAt,
            { 'f:spec': { 'f:schedule': {}, 'f:timeZone': {}, 'f:suspend': {}, 'f:concurrencyPolicy': {} } },
            'deployer',
          ),
          managed(this.#labelsAt, { 'f:metadata': { 'f:labels': { 'f:tier': {} } } }, 'labeller'),
          ...(words ? [managedWords(this.#wordsAt, words)] : []),
        ],
      },
      spec: {
        schedule: scheduleOf(rhythm, zone),
        ...(zone && { timeZone: zone.name }),
        suspend,
        concurrencyPolicy: policy,
        successfulJobsHistoryLimit: successLimit,
        failedJobsHistoryLimit: failureLimit,
        jobTemplate: { spec: jobSpec(ttlSeconds) },
        ...spec,
      },
      status: {
        ...(this.#lastScheduleAt !== undefined && { lastScheduleTime: iso(this.#lastScheduleAt) }),
        ...(this.#lastSuccessAt !== undefined && { lastSuccessfulTime: iso(this.#lastSuccessAt) }),
        active: this.#active.map(({ run }) => ({ kind: 'Job', name: run.jobName, namespace, uid: run.jobUid })),
      },
    };
    this.changes.push({ at, apply: (world) => void world.put('CronJob', object) });
  }

  #writeJob(at: number, live: LiveRun): void {
    const object = jobAt(at, live, this.#maker());
    this.changes.push({ at, apply: (world) => void world.put('Job', object) });
  }

  #writePod(at: number, live: LiveRun): void {
    const object = podAt(at, live, this.#maker());
    this.changes.push({ at, apply: (world) => void world.put('Pod', object) });
  }

  #removePod(at: number, { run }: LiveRun): void {
    const { namespace } = this.#story;
    this.changes.push({ at, apply: (world) => world.remove('Pod', namespace, podNameOf(run)) });
  }

  #maker(): JobMaker {
    const { uid, namespace, name, ttlSeconds, tellsRows = false } = this.#story;
    return { namespace, labels: {}, ttlSeconds, cronJob: { name, uid }, tellsRows };
  }
}
