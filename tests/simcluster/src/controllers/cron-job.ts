import { ApiError } from '../http/api-error.ts';
import type { Kind } from '../kinds/kind.ts';
import { withJobDefaults, withGeneratedSelector } from '../kinds/job-defaults.ts';
import { readCronText, type CronRule } from '../schedule/cron-text.ts';
import { isZoneName } from '../schedule/zone-names.ts';
import { printInZone } from '../schedule/zone-offset.ts';
import { printTime } from '../schema/go-time.ts';
import { controllerOf, keyOf, type KubeObject } from '../storage/kube-object.ts';
import type { Change } from '../storage/resource-table.ts';
import { admitToNamespace, admitToQuota } from '../verbs/admission.ts';
import type { VerbDeps } from '../verbs/verb-deps.ts';
import { endOf, type CronJob, type CronJobStatus, type Job, type ObjectReference } from './batch-objects.ts';
import type { EventRecorder } from './event-recorder.ts';
import { KeyQueue } from './key-queue.ts';
import { missedSlots, NeverDueError, nextLookAt, slotDelayMs, type SlotFacts } from './missed-slots.ts';
import type { OwnerIndex } from './owner-index.ts';

interface CronJobDeps extends VerbDeps {
  readonly owners: OwnerIndex;
  readonly recorder: EventRecorder;
  /** The zone of schedules that name none. */
  readonly defaultZone: string;
}

/** Starts Jobs when they are due, tells what became of them, and clears old ones away. */
export class CronJobController {
  readonly #deps: CronJobDeps;
  readonly #queue: KeyQueue;
  readonly #cronJobs: Kind;
  readonly #jobs: Kind;
  readonly #rules = new Map<string, CronRule | Error>();
  readonly #quiet = new Map<string, QuietTime>();
  #paused = false;

  constructor(deps: CronJobDeps) {
    this.#deps = deps;
    this.#queue = new KeyQueue(deps.clock, (key) => this.#sync(key));
    this.#cronJobs = deps.registry.get('batch', 'v1', 'cronjobs');
    this.#jobs = deps.registry.get('batch', 'v1', 'jobs');
  }

  /** To be told of every write. */
  notice(change: Change): void {
    if (change.resource === 'cronjobs.batch') this.#noticeCronJob(change);
    else if (change.resource === 'jobs.batch') this.#noticeJob(change);
  }

  /** Does nothing until it is resumed, as one whose process has ended. */
  pause(): void {
    this.#paused = true;
  }

  /** Begins again and looks at everything, as a new process does. */
  resume(): void {
    this.#paused = false;
    this.#quiet.clear();
    for (const cronJob of this.#deps.store.table('cronjobs.batch').objects()) {
      this.#queue.add(keyOf(cronJob.metadata.namespace, cronJob.metadata.name));
    }
  }

  #noticeCronJob(change: Change): void {
    if (change.type === 'DELETED') {
      this.#queue.forget(change.key);
      this.#quiet.delete(change.key);
      return;
    }
    const cronJob = change.object as CronJob;
    const before = change.previous as CronJob | undefined;
    const edited =
      before !== undefined &&
      (before.spec.schedule !== cronJob.spec.schedule || before.spec.timeZone !== cronJob.spec.timeZone);
    // An edit of the schedule by itself looks ahead only.
    if (edited) this.#requeue(change.key, cronJob);
    else this.#queue.add(change.key);
  }

  #noticeJob(change: Change): void {
    const owner = controllerOf(change.object);
    if (owner?.kind === 'CronJob') this.#queue.add(keyOf(change.object.metadata.namespace, owner.name));
  }

  #requeue(key: string, cronJob: CronJob): void {
    const rule = this.#ruleOf(cronJob);
    const at = rule instanceof Error ? undefined : nextLookAt(this.#factsOf(cronJob, rule), this.#deps.clock.now());
    if (at !== undefined) this.#queue.addAt(key, at);
  }

  #ruleOf(cronJob: CronJob): CronRule | Error {
    const { schedule } = cronJob.spec;
    let rule = this.#rules.get(schedule);
    if (rule === undefined) {
      try {
        rule = readCronText(schedule);
      } catch (error) {
        rule = error instanceof Error ? error : new Error(String(error));
      }
      this.#rules.set(schedule, rule);
    }
    return rule;
  }

  #zoneOf(cronJob: CronJob): string {
    return cronJob.spec.timeZone ?? this.#deps.defaultZone;
  }

  #factsOf(cronJob: CronJob, rule: CronRule): SlotFacts {
    const { lastScheduleTime } = cronJob.status;
    return {
      rule,
      zone: this.#zoneOf(cronJob),
      createdAt: Date.parse(cronJob.metadata.creationTimestamp),
      lastScheduledAt: lastScheduleTime === undefined ? undefined : Date.parse(lastScheduleTime),
      startingDeadlineSeconds: cronJob.spec.startingDeadlineSeconds,
    };
  }

  #sync(key: string): void {
    if (this.#paused) return;
    const cronJob = this.#deps.store.table('cronjobs.batch').get(key) as CronJob | undefined;
    if (cronJob === undefined) return;
    const jobs = this.#jobsOf(cronJob);
    const round = new Round(cronJob, this.#deps, this.#jobs);
    round.removeOldJobs(jobs);
    round.followJobs(jobs);
    const failed = this.#startDue(key, round);
    if (!round.store(this.#cronJobs)) return;
    if (failed) this.#queue.retry(key);
    else this.#queue.succeeded(key);
  }

  /** Found by the owner's name and kind, as the real controller does. */
  #jobsOf(cronJob: CronJob): Job[] {
    const { name, namespace } = cronJob.metadata;
    return this.#deps.owners.controlledBy('jobs.batch', 'CronJob', namespace, name) as Job[];
  }

  /** Starts the newest slot that is due. True: it was refused and must be tried again. */
  #startDue(key: string, round: Round): boolean {
    const { cronJob } = round;
    const { spec, metadata } = cronJob;
    if (metadata.deletionTimestamp !== undefined) return false;
    if (spec.timeZone !== undefined && !isZoneName(spec.timeZone)) {
      const message = `invalid timeZone: ${JSON.stringify(spec.timeZone)}: unknown time zone ${spec.timeZone}`;
      round.tell('Warning', 'UnknownTimeZone', message);
      return false;
    }
    if (spec.suspend === true || this.#isQuiet(key, round)) return false;
    const rule = this.#ruleOf(cronJob);
    if (rule instanceof Error) {
      const message = `unparseable schedule: ${JSON.stringify(spec.schedule)} : ${rule.message}`;
      round.tell('Warning', 'UnparseableSchedule', message);
      return false;
    }
    const now = this.#deps.clock.now();
    const slot = this.#dueSlot(round, this.#factsOf(cronJob, rule), now);
    // A rule that is never due is not looked at again until it is edited.
    if (slot === 'never') return false;
    const failed = slot !== undefined && round.start(slot, this.#zoneOf(cronJob), now);
    if (failed) return true;
    const until = nextLookAt(this.#factsOf({ ...cronJob, status: round.status }, rule), now);
    if (until === undefined) return false;
    // Where the guess finds none the next look lies in the past: the real controller turns at once, this one after a second.
    this.#queue.addAt(key, until > now ? until : now + 1_000);
    // A slot that is due and does not start, because it must not, is looked at again whenever something happens.
    if (slot === undefined) this.#quiet.set(key, { spec, lastScheduleTime: round.status.lastScheduleTime, until });
    return false;
  }

  /** Whether nothing is due as far as was found out before: most looks are about Jobs that moved on. */
  #isQuiet(key: string, { cronJob }: Round): boolean {
    const known = this.#quiet.get(key);
    if (known === undefined || known.spec !== cronJob.spec) return false;
    if (known.lastScheduleTime !== cronJob.status.lastScheduleTime) return false;
    if (this.#deps.clock.now() >= known.until - slotDelayMs) return false;
    // The queue may have kept an earlier time, which is over now.
    this.#queue.addAt(key, known.until);
    return true;
  }

  #dueSlot(round: Round, facts: SlotFacts, now: number): number | 'never' | undefined {
    try {
      const { newestAt, tooMany } = missedSlots(facts, now);
      if (tooMany) {
        const message =
          'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew';
        round.tell('Warning', 'TooManyMissedTimes', message);
      }
      return newestAt;
    } catch (error) {
      if (!(error instanceof NeverDueError)) throw error;
      const message = `invalid schedule: ${round.cronJob.spec.schedule} : ${error.message}`;
      round.tell('Warning', 'InvalidSchedule', message);
      return 'never';
    }
  }
}

/** A time in which no slot is due, as long as the CronJob asks for the same and started nothing else. */
interface QuietTime {
  readonly spec: CronJob['spec'];
  readonly lastScheduleTime: string | undefined;
  /** When the controller looks again. */
  readonly until: number;
}

/** One look of the controller at one CronJob. The status is gathered and written once, at the end. */
class Round {
  readonly cronJob: CronJob;
  status: CronJobStatus;
  readonly #deps: CronJobDeps;
  readonly #jobs: Kind;

  constructor(cronJob: CronJob, deps: CronJobDeps, jobs: Kind) {
    this.cronJob = cronJob;
    this.status = cronJob.status;
    this.#deps = deps;
    this.#jobs = jobs;
  }

  tell(type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.#deps.recorder.record(this.cronJob, { type, reason, message });
  }

  removeOldJobs(jobs: Job[]): void {
    const { successfulJobsHistoryLimit, failedJobsHistoryLimit } = this.cronJob.spec;
    this.#removeBeyond(jobs, 'Complete', successfulJobsHistoryLimit);
    this.#removeBeyond(jobs, 'Failed', failedJobsHistoryLimit);
  }

  #removeBeyond(jobs: Job[], ending: string, limit: number | undefined): void {
    if (limit === undefined) return;
    const ended = jobs.filter((job) => endOf(job)?.type === ending);
    if (ended.length <= limit) return;
    const startOf = (job: Job): string => job.status.startTime ?? job.metadata.creationTimestamp;
    ended.sort((a, b) => (startOf(a) < startOf(b) ? -1 : startOf(a) > startOf(b) ? 1 : 0));
    // What was not yet noticed about them still counts below: their success.
    for (const job of ended.slice(0, ended.length - limit)) this.#remove(job);
  }

  #remove(job: Job): void {
    const stored = this.#deps.store.get('jobs.batch', job.metadata.namespace, job.metadata.name);
    if (stored === undefined || stored.metadata.deletionTimestamp !== undefined) return;
    this.#deps.writer.remove(this.#jobs, stored, { propagation: 'Background' });
    this.#dropActive(job.metadata.uid);
    this.tell('Normal', 'SuccessfulDelete', `Deleted job ${job.metadata.name}`);
  }

  #dropActive(uid: string): void {
    const active = this.status.active?.filter((reference) => reference.uid !== uid);
    this.#setActive(active ?? []);
  }

  #setActive(active: readonly ObjectReference[]): void {
    const { active: _active, ...rest } = this.status;
    this.status = active.length === 0 ? rest : { active, ...rest };
  }

  /** Notes which Jobs ended, which succeeded, which are strangers and which are missing. */
  followJobs(jobs: readonly Job[]): void {
    const children = new Set(jobs.map((job) => job.metadata.uid));
    for (const job of jobs) this.#follow(job);
    for (const reference of this.status.active ?? []) {
      if (children.has(reference.uid)) continue;
      if (this.#deps.store.get('jobs.batch', reference.namespace, reference.name) !== undefined) continue;
      this.tell('Normal', 'MissingJob', `Active job went missing: ${reference.name}`);
      this.#dropActive(reference.uid);
    }
  }

  #follow(job: Job): void {
    const known = this.status.active?.some((reference) => reference.uid === job.metadata.uid) ?? false;
    const end = endOf(job);
    if (!known && end === undefined) {
      const message = `Saw a job that the controller did not create or forgot: ${job.metadata.name}`;
      this.tell('Warning', 'UnexpectedJob', message);
      return;
    }
    if (known && end !== undefined) {
      this.#dropActive(job.metadata.uid);
      this.tell('Normal', 'SawCompletedJob', `Saw completed job: ${job.metadata.name}, condition: ${end.type}`);
    }
    const { completionTime } = job.status;
    if (
      end?.type === 'Complete' &&
      completionTime !== undefined &&
      completionTime > (this.status.lastSuccessfulTime ?? '')
    ) {
      this.status = { ...this.status, lastSuccessfulTime: completionTime };
    }
  }

  /** Starts the Job of a slot, unless policy forbids it. True: it was refused and must be tried again. */
  start(slot: number, zone: string, now: number): boolean {
    const { spec } = this.cronJob;
    const deadlineMs = (spec.startingDeadlineSeconds ?? Infinity) * 1000;
    if (slot + deadlineMs < now) {
      this.tell(
        'Warning',
        'MissSchedule',
        `Missed scheduled time to start a job: ${new Date(slot).toUTCString().replace('GMT', '+0000')}`,
      );
      return false;
    }
    const active = this.status.active ?? [];
    const name = `${this.cronJob.metadata.name}-${Math.floor(slot / 60_000)}`;
    if (active.some((reference) => reference.name === name) || this.status.lastScheduleTime === printTime(slot))
      return false;
    if (spec.concurrencyPolicy === 'Forbid' && active.length > 0) {
      const message = 'Not starting job because prior execution is running and concurrency policy is Forbid';
      this.tell('Normal', 'JobAlreadyActive', message);
      return false;
    }
    if (spec.concurrencyPolicy === 'Replace') this.#removeActive(active);
    return this.#create(name, slot, zone);
  }

  #removeActive(active: readonly ObjectReference[]): void {
    for (const reference of active) {
      const job = this.#deps.store.get('jobs.batch', reference.namespace, reference.name);
      if (job === undefined) this.#dropActive(reference.uid);
      else this.#remove(job as Job);
    }
  }

  #create(name: string, slot: number, zone: string): boolean {
    const { metadata } = this.cronJob;
    const namespace = metadata.namespace ?? '';
    const present = this.#deps.store.get('jobs.batch', namespace, name);
    // A stranger that holds the name blocks the slot in silence.
    if (present !== undefined && controllerOf(present)?.uid !== metadata.uid) return false;
    let job = present;
    if (job === undefined) {
      try {
        admitToNamespace(this.#deps.store, this.#jobs, namespace, name);
        admitToQuota(this.#deps.store, this.#jobs, namespace, name);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        this.tell('Warning', 'FailedCreate', `Error creating job: ${error.message}`);
        return true;
      }
      const prepared = this.#deps.writer.prepare(this.#jobs, jobOf(this.cronJob, name, printInZone(slot, zone)));
      job = this.#deps.writer.insert(this.#jobs, withGeneratedSelector(prepared));
      this.tell('Normal', 'SuccessfulCreate', `Created job ${name}`);
    }
    this.#setActive([...(this.status.active ?? []), referenceTo(job)]);
    this.status = { ...this.status, lastScheduleTime: printTime(slot) };
    return false;
  }

  /** Writes the status if it changed. False: the CronJob went away meanwhile. */
  store(kind: Kind): boolean {
    const { metadata } = this.cronJob;
    const current = this.#deps.store.get('cronjobs.batch', metadata.namespace, metadata.name);
    if (current === undefined) return false;
    if (this.status !== this.cronJob.status)
      this.#deps.writer.replace(kind, { ...current, status: this.status }, current);
    return true;
  }
}

function jobOf(cronJob: CronJob, name: string, slotText: string): KubeObject {
  const { metadata, spec } = cronJob;
  const template = spec.jobTemplate;
  return withJobDefaults({
    kind: 'Job',
    apiVersion: 'batch/v1',
    metadata: {
      name,
      ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
      uid: '',
      resourceVersion: '',
      creationTimestamp: '',
      ...(template.metadata?.labels === undefined ? {} : { labels: template.metadata.labels }),
      annotations: { ...template.metadata?.annotations, 'batch.kubernetes.io/cronjob-scheduled-timestamp': slotText },
      ownerReferences: [
        {
          apiVersion: 'batch/v1',
          kind: 'CronJob',
          name: metadata.name,
          uid: metadata.uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: template.spec,
    status: {},
  });
}

function referenceTo(job: KubeObject): ObjectReference {
  const { name, namespace = '', uid, resourceVersion } = job.metadata;
  return { kind: 'Job', namespace, name, uid, apiVersion: 'batch/v1', resourceVersion };
}
