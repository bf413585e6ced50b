import {
  bestSuggestion,
  createFixMatcher,
  decisiveLines,
  faultOfRun,
  findExitCause,
  toAttempts,
  withoutSearches,
  type Evidence,
  type Execution,
  type ExitCause,
  type FailurePlace,
  type Fault,
  type FixFacts,
  type FixQuestion,
  type JobFacts,
  type KeptEvent,
  type PodFacts,
  type SuggestedFix,
  refText,
  eventsIn,
  attemptsIn,
} from '@cronjob-monitor/shared/domain';
import type { Ref } from '@cronjob-monitor/shared/contract';
import { podStatusOf, type KnownOfRun, type LearnedOfRun } from '../alerting/index.ts';
import type { SuggestFix } from './suggest-fixes.ts';
import type { MonitorSeen } from '../selection/index.ts';

/** A failed or stuck run with its evidence. */
export interface RunToExplain {
  readonly job: JobFacts;
  readonly pods: readonly PodFacts[];
  /** Undefined: the run is stuck and has not ended. */
  readonly execution: Execution | undefined;
  readonly monitors: readonly MonitorSeen[];
  /** Oldest first. */
  readonly pieces: readonly Evidence[];
}

/** What one run's evidence tells; changes of the spec are compared later, for many runs at once. */
export type ExplainedRun = Omit<LearnedOfRun, 'changes'>;

/** Explains a run by its evidence, for the run's page and for its alerts. */
export async function explainRun(run: RunToExplain, suggest: SuggestFix): Promise<ExplainedRun> {
  const { job, pods, execution, monitors, pieces } = run;
  const cause = findExitCause(job, pods);
  const { main: log, init } = explainingLogs(cause, pieces, pods);
  const events = pieces.findLast(({ kind }) => kind === 'events');
  const attempts = pieces.findLast(({ kind }) => kind === 'attempts');
  const place = placeOf(cause, pods);
  const fixes = await suggestionsFor(run, { facts: fixFactsOf(run, cause, log, events), place }, suggest);
  const fix = bestSuggestion([...fixes.values()]);
  const monitorOf = (ref: Ref) => monitors.find((monitor) => refText(monitor) === refText(ref));
  return {
    cronJobUid: job.cronJobUid,
    jobUid: job.uid,
    createdAt: job.createdAt,
    log,
    initLogs: init,
    events,
    attempts,
    podStatus: attempts?.body === undefined ? undefined : podStatusOf(attemptsIn([attempts])),
    place,
    fault: faultIn(run, cause, events),
    decisive: execution && decisiveIn(pieces, cause, { log, at: fix?.logAt }),
    fix: execution && fix?.text,
    fixOf: (ref) => fixes.get(refText(ref))?.text,
    includeOf: (ref) => {
      const decoded = monitorOf(ref)?.decoded;
      return decoded?.ok ? decoded.spec.alerting?.includeContext : undefined;
    },
  };
}

/** Finds one decisive line for each attempt; they are stored as one piece beside the logs. */
function decisiveIn(
  pieces: readonly Evidence[],
  cause: ExitCause,
  { log, at }: { readonly log: Evidence | undefined; readonly at: number | undefined },
): Evidence | undefined {
  const lines = decisiveLines(pieces, cause, log && at !== undefined ? { log: log.name, at } : undefined);
  const newest = pieces.findLast(({ kind }) => kind === 'logs');
  if (newest === undefined || lines.length === 0) return undefined;
  return {
    ...newest,
    kind: 'decisive',
    name: '',
    body: JSON.stringify(lines),
    truncated: false,
    unavailable: undefined,
  };
}

/**
 * Answers from memory, before any evidence was read: pods, and suggestions by exit codes and reasons. It searches no log, so it may run while
 * the end of the run is written.
 */
export function createKnowing(messageWaitMs: number): (run: Omit<RunToExplain, 'pieces' | 'execution'>) => KnownOfRun {
  const suggest = createFixMatcher();
  return ({ job, pods, monitors }) => {
    const run = { job, pods, monitors, execution: undefined };
    const cause = findExitCause(job, pods);
    const place = placeOf(cause, pods);
    const about = { facts: fixFactsOf(run, cause, undefined, undefined), place };
    return {
      messageWaitMs,
      attempts: toAttempts(pods),
      place,
      fixOf: (ref) => {
        const monitor = monitors.find(({ namespace, name }) => namespace === ref.namespace && name === ref.name);
        return monitor && suggest(withoutSearches(questionOf(run, about, monitor)))?.text;
      },
    };
  };
}

/** By `namespace/name` of the monitor. Monitors without patterns of their own share the answer of the built-in ones. */
async function suggestionsFor(
  run: RunToExplain,
  about: FixSubject,
  suggest: SuggestFix,
): Promise<ReadonlyMap<string, SuggestedFix | undefined>> {
  const answers = new Map<string, SuggestedFix | undefined>();
  let builtIn: Promise<SuggestedFix | undefined> | undefined;
  for (const monitor of run.monitors) {
    const question = questionOf(run, about, monitor);
    const asked = question.patterns.length === 0 ? (builtIn ??= suggest(question)) : suggest(question);
    // There is one thread, so questions at once would be no faster.
    answers.set(refText(monitor), await asked);
  }
  return answers;
}

interface FixSubject {
  readonly facts: FixFacts;
  readonly place: FailurePlace | undefined;
}

/** The key names the monitor and its generation; it is empty for a monitor without patterns of its own. */
function questionOf(
  { job, execution }: Pick<RunToExplain, 'job' | 'execution'>,
  { facts, place }: FixSubject,
  { uid, generation, namespace, name, decoded }: MonitorSeen,
): FixQuestion {
  const patterns = decoded.ok ? (decoded.spec.alerting?.suggestedFixPatterns ?? []) : [];
  return {
    key: patterns.length === 0 ? '' : `${namespace}/${name} ${uid} ${generation}`,
    patterns,
    facts,
    values: {
      'CronJob.Name': job.cronJobName,
      'CronJob.Namespace': job.namespace,
      Namespace: job.namespace,
      Name: job.cronJobName,
      JobName: job.name,
      ExitCode: facts.exitCode?.toString(),
      Reason: execution?.reason ?? facts.reasons[0],
      Pod: place?.pod ?? undefined,
      Container: place?.container ?? undefined,
      Image: place?.image ?? undefined,
      Node: place?.node ?? undefined,
    },
  };
}

/** The fault that the events show, where it differs from the fault without them. */
function faultIn({ job, pods }: RunToExplain, cause: ExitCause, events: Evidence | undefined): Fault | undefined {
  const atOnce = faultOfRun(job, pods, { cause });
  const fault = faultOfRun(job, pods, { cause, events: keptEvents(events) });
  return fault?.cause === atOnce?.cause && fault?.scope === atOnce?.scope ? undefined : fault;
}

function keptEvents(events: Evidence | undefined): readonly KeptEvent[] {
  return events ? eventsIn([events]) : [];
}

function fixFactsOf(
  { execution, job, pods }: Omit<RunToExplain, 'pieces' | 'monitors'>,
  cause: ExitCause,
  log: Evidence | undefined,
  events: Evidence | undefined,
): FixFacts {
  const waiting = pods.flatMap(({ containers, unscheduled, reason, disruption }) => [
    ...containers.map((container) => container.waiting),
    unscheduled,
    reason,
    disruption,
  ]);
  const reasons = [execution?.reason, cause.reason, execution?.jobReason ?? job.jobReason, ...waiting];
  return {
    exitCode: execution?.exitCode ?? cause.exitCode,
    cause: faultOfRun(job, pods, { cause, events: keptEvents(events) })?.cause,
    reasons: [...new Set(reasons.filter((reason) => reason !== undefined))],
    log: log?.body,
    events: keptEvents(events).map(({ reason, message }) => `${reason}: ${message}`),
  };
}

function placeOf({ pod: failed, container: name }: ExitCause, pods: readonly PodFacts[]): FailurePlace | undefined {
  const pod = failed ?? pods.at(-1);
  if (pod === undefined) return undefined;
  const container = pod.containers.find((one) => one.name === name) ?? pod.containers.find(({ init }) => !init);
  return {
    pod: pod.name,
    container: container?.name ?? null,
    image: container?.image ?? null,
    node: pod.node ?? null,
  };
}

/** The logs that explain the end of a run. */
interface ExplainingLogs {
  /** The failed container's log; undefined: no log was read. A log with a text goes before one that only says why the log is missing. */
  readonly main: Evidence | undefined;
  /** Logs with a text of the same pod's init containers, in their order. */
  readonly init: readonly Evidence[];
}

/** `pieces`: the run's evidence, oldest first. */
export function explainingLogs(
  cause: Pick<ExitCause, 'pod' | 'container'>,
  pieces: readonly Evidence[],
  pods: readonly PodFacts[],
): ExplainingLogs {
  const logs = pieces.filter(({ kind }) => kind === 'logs');
  const own = logs.find(({ name }) => name === `${cause.pod?.name}/${cause.container}`);
  const regular = logs.filter(({ name }) => !isInit(name, pods));
  const told = (some: readonly Evidence[]): Evidence | undefined => some.findLast(({ body }) => body !== undefined);
  const main = own?.body === undefined ? (told(regular) ?? told(logs) ?? own ?? logs.at(-1)) : own;
  if (main === undefined) return { main, init: [] };
  const pod = pods.find(({ name }) => name === podOf(main.name));
  const init = (pod?.containers ?? []).flatMap((container) => {
    const name = `${pod?.name}/${container.name}`;
    const log = container.init && name !== main.name ? logs.find((one) => one.name === name) : undefined;
    return log?.body === undefined ? [] : [log];
  });
  return { main, init };
}

function isInit(name: string, pods: readonly PodFacts[]): boolean {
  const pod = pods.find((one) => one.name === podOf(name));
  return pod?.containers.some((container) => container.init && `${pod.name}/${container.name}` === name) ?? false;
}

/** Logs are kept under `pod/container`. */
function podOf(name: string): string {
  return name.split('/', 1)[0] ?? name;
}
