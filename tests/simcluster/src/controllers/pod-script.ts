import type { Random } from '../random.ts';
import { controllerOf } from '../storage/kube-object.ts';
import type { Job, Pod } from './batch-objects.ts';

/** How a pod ends. */
export type Outcome =
  | {
      readonly kind: 'exit';
      readonly code: number;
      readonly reason: 'Completed' | 'Error' | 'OOMKilled';
    }
  /** The command of the container is not in its image. */
  | { readonly kind: 'start-error' }
  | { readonly kind: 'hang' }
  | { readonly kind: 'evicted' }
  | { readonly kind: 'unschedulable' }
  | { readonly kind: 'waiting'; readonly reasons: readonly { readonly reason: string; readonly message: string }[] };

/** What a pod does from its start to its end. */
export interface PodScript {
  readonly outcome: Outcome;
  readonly seconds: number;
  readonly log: string | undefined;
  /** What its containers leave behind as they end. */
  readonly message: string | undefined;
}

/**
 * Annotations of a pod template that script its pods carry one of these prefixes. The second is that of the recorded answers,
 * whose nodes wrote no events.
 */
const lifelikePrefix = 'sim.cronjob-monitor.io/';
const prefixes = [lifelikePrefix, 'bar/'] as const;
const defaultSeconds = 1;

const success: Outcome = { kind: 'exit', code: 0, reason: 'Completed' };

/** How often something of one name happened, in order of first sight. */
export class Counters {
  readonly #counts = new Map<string, { next: number; known: Map<string, number> }>();

  /** 0 for the first `member` of a `group`, 1 for the second; the same number for the same member again. */
  indexOf(group: string, member: string): number {
    const counts = this.#counts.get(group) ?? { next: 0, known: new Map<string, number>() };
    this.#counts.set(group, counts);
    let index = counts.known.get(member);
    if (index === undefined) {
      index = counts.next++;
      counts.known.set(member, index);
    }
    return index;
  }

  /** Forgets a member, not that there was one. */
  forget(group: string, member: string): void {
    this.#counts.get(group)?.known.delete(member);
  }

  forgetGroup(group: string): void {
    this.#counts.delete(group);
  }
}

/** Reads the annotation under either prefix; undefined when the pod has neither. */
function scriptNote(pod: Pod, name: string): string | undefined {
  for (const prefix of prefixes) {
    const text = pod.metadata.annotations?.[prefix + name];
    if (text !== undefined) return text;
  }
  return undefined;
}

/** Whether its node behaves as nodes do: it writes events, and ends what is told to go with a signal. */
export function isLifelike({ metadata }: Pod): boolean {
  return Object.keys(metadata.annotations ?? {}).some((name) => name.startsWith(lifelikePrefix));
}

/** Whether no node is ever found for the pod. */
export function isUnschedulable(pod: Pod): boolean {
  return scriptNote(pod, 'outcome') === 'unschedulable';
}

/** Whether the cluster plays this pod: it has a script, or it belongs to a Job. */
export function isPlayed(pod: Pod): boolean {
  const scripted = ['outcome', 'seconds', 'log'].some((name) => scriptNote(pod, name) !== undefined);
  return scripted || isLifelike(pod) || controllerOf(pod)?.kind === 'Job';
}

/**
 * The script of a pod. `outcome` may be a list with commas: its entries take turns from run to run of a CronJob. `seconds`
 * may be a list likewise, or a range such as `20-40` of which chance picks. `outcome-of-index.N` wins for index N of a Job. A pod that does
 * not succeed says `log-of-failure`, where there is one.
 */
export function scriptOf(
  pod: Pod,
  job: Job | undefined,
  deps: { runs: Counters; pods: Counters; random: Random },
): PodScript {
  const owner = job === undefined ? undefined : controllerOf(job);
  const run = job === undefined || owner === undefined ? 0 : deps.runs.indexOf(owner.uid, job.metadata.uid);
  const ofJob = job === undefined ? 0 : deps.pods.indexOf(job.metadata.uid, pod.metadata.uid);
  const restarts = pod.status.containerStatuses?.[0]?.restartCount ?? 0;
  const turn = (list: string): string => {
    const entries = list.split(',').map((entry) => entry.trim());
    return entries[run % entries.length] ?? '';
  };
  const index = pod.metadata.annotations?.['batch.kubernetes.io/job-completion-index'];
  const ofIndex = index === undefined ? undefined : scriptNote(pod, `outcome-of-index.${index}`);
  const outcome = readOutcome(turn(ofIndex ?? scriptNote(pod, 'outcome') ?? 'success'), ofJob + restarts);
  const isWell = outcome.kind === 'exit' && outcome.code === 0;
  const failureLog = isWell ? undefined : scriptNote(pod, 'log-of-failure');
  return {
    outcome,
    seconds: readSeconds(turn(scriptNote(pod, 'seconds') ?? ''), deps.random),
    log: failureLog ?? scriptNote(pod, 'log'),
    message: turn(scriptNote(pod, 'termination-message') ?? '') || undefined,
  };
}

function readSeconds(text: string, random: Random): number {
  const range = /^([0-9.]+)-([0-9.]+)$/.exec(text);
  if (range !== null) {
    const [low, high] = [Number(range[1]), Number(range[2])];
    return low + random.fraction() * (high - low);
  }
  const seconds = Number(text);
  return text === '' || Number.isNaN(seconds) ? defaultSeconds : seconds;
}

/** `start`: how many pods of the Job, and lives of this one, there were before. */
function readOutcome(text: string, start: number): Outcome {
  const [name = '', argument = ''] = text.split(':');
  switch (name) {
    case 'exit':
      return exit(Number(argument));
    case 'oom':
      return { kind: 'exit', code: 137, reason: 'OOMKilled' };
    case 'imagepull':
      return {
        kind: 'waiting',
        reasons: [
          { reason: 'ErrImagePull', message: 'failed to pull and unpack image: not found' },
          { reason: 'ImagePullBackOff', message: 'Back-off pulling image' },
        ],
      };
    case 'imagename':
      return {
        kind: 'waiting',
        reasons: [
          {
            reason: 'InvalidImageName',
            message: "couldn't parse image name: invalid reference format: repository name must be lowercase",
          },
        ],
      };
    case 'configerror':
      return { kind: 'waiting', reasons: [{ reason: 'CreateContainerConfigError', message: 'secret "x" not found' }] };
    case 'hang':
      return { kind: 'hang' };
    case 'starterror':
      return { kind: 'start-error' };
    case 'unschedulable':
      return { kind: 'unschedulable' };
    case 'evicted':
      return { kind: 'evicted' };
    case 'fail-first':
    case 'retrythen':
      return start < Number(argument) ? exit(1) : success;
    default:
      return success;
  }
}

function exit(code: number): Outcome {
  return { kind: 'exit', code, reason: code === 0 ? 'Completed' : 'Error' };
}
