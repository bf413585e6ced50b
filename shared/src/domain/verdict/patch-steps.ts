import type { Ref, VerdictStep } from '../../contract/index.ts';
import { isGroupName } from '../../contract/vocabulary.ts';
import { durationInWords } from '../../contract/wording.ts';
import type { Attempt } from '../execution/attempts.ts';
import { openRunOf } from './step.ts';

/** What a spec of a Job and the attempts of a run ask for: a cause in words, and a patch of the CronJob to copy. */
interface PatchStep {
  readonly container?: string;
  readonly cause: string;
  readonly step: VerdictStep;
}

interface Ran {
  readonly jobName: string;
  readonly attempts: number;
}

/** Of a run that was killed for lack of memory: its limit doubled. Undefined: the spec does not tell which container it was. */
export function killedStep(cronJob: Ref, run: Ran, spec: unknown, attempts: readonly Attempt[]): PatchStep | undefined {
  const killed = attempts.flatMap(({ containers }) => containers).find(({ reason }) => reason === 'OOMKilled')?.name;
  const container = containerIn(spec, killed);
  if (!container) return undefined;
  const { name, limit } = container;
  const times = run.attempts > 1 ? ` in ${run.attempts} attempts` : '';
  if (limit === undefined) {
    const words = `Container ${name} has no memory limit of its own: its node or pod ran out of memory`;
    const cause = `Container ${name} was killed for lack of memory${times}`;
    return { container: name, cause, step: openRunOf(cronJob, run.jobName, words) };
  }
  const doubled = doubledMemory(limit);
  return {
    container: name,
    cause: `Killed at ${inWords(limit)}${times}`,
    step: copyPatch(
      cronJob,
      run,
      `Raise the memory limit of container ${name} from ${inWords(limit)} to ${inWords(doubled)}, or make it use less`,
      doubled,
      ofContainer(name, { limits: { memory: doubled } }),
    ),
  };
}

/** Of a run whose pod was evicted: what its container asks for is raised to its limit, else doubled. */
export function evictedStep(
  cronJob: Ref,
  run: Ran,
  spec: unknown,
  attempts: readonly Attempt[],
): PatchStep | undefined {
  const evicted = attempts.find(({ reason }) => reason === 'Evicted');
  const container = containerIn(spec, evicted?.containers[0]?.name);
  const cause = evicted?.node === undefined ? 'Its pod was evicted' : `Its pod was evicted from node ${evicted.node}`;
  if (!container) return { cause, step: openRunOf(cronJob, run.jobName, `Open the run: ${cause.toLowerCase()}`) };
  const { name, request, limit } = container;
  const wanted = limit !== undefined && limit !== request ? limit : request && doubledMemory(request);
  if (wanted === undefined)
    return {
      cause,
      step: openRunOf(cronJob, run.jobName, `Give container ${name} a memory request, so that it is evicted last`),
    };
  const now = request === undefined ? 'it asks for none' : `it asks for ${inWords(request)}`;
  return {
    container: name,
    cause,
    step: copyPatch(
      cronJob,
      run,
      `Let container ${name} ask for ${inWords(wanted)} of memory (${now}), so that it is evicted last`,
      wanted,
      ofContainer(name, { requests: { memory: wanted } }),
    ),
  };
}

/** Of a run that its deadline ended: 1.5 times what runs take (99th percentile), or twice the deadline where none succeeded. */
export function deadlineStep(
  cronJob: Ref,
  run: Pick<Ran, 'jobName'>,
  spec: unknown,
  p99Ms: number | undefined,
): PatchStep | undefined {
  const deadline = inside(spec, 'activeDeadlineSeconds');
  if (typeof deadline !== 'number') return undefined;
  const usual = p99Ms === undefined ? 0 : Math.ceil((1.5 * p99Ms) / 1_000);
  // Runs that succeed within the deadline say nothing about the one that did not.
  const wanted = usual > deadline ? usual : 2 * deadline;
  const [now, then] = [durationInWords(deadline), durationInWords(wanted)];
  const basis = wanted === usual ? ` (99 of 100 runs take ${durationInWords((p99Ms ?? 0) / 1_000)})` : '';
  return {
    cause: `Ended by its deadline of ${now}`,
    step: copyPatch(cronJob, run, `Raise its deadline from ${now} to ${then}${basis}, or make it faster`, then, {
      activeDeadlineSeconds: wanted,
    }),
  };
}

/** `value`: what it sets; `spec`: what is changed of the spec of its Jobs. */
function copyPatch(
  { namespace, name }: Ref,
  run: Pick<Ran, 'jobName'>,
  words: string,
  value: string,
  spec: object,
): VerdictStep {
  const patch = JSON.stringify({ spec: { jobTemplate: { spec } } });
  return {
    action: 'copyPatch',
    words,
    label: `Copy patch: ${inWords(value)}`,
    // The template of a Job without a CronJob is not in the cluster.
    command: isGroupName(name) ? null : `kubectl -n ${namespace} patch cronjob ${name} --patch '${patch}'`,
    href: openRunOf({ namespace, name }, run.jobName).href,
  };
}

/** A quantity as people write it: `512 Mi`. */
function inWords(quantity: string): string {
  return quantity.replace(/(\d)(?=[A-Z])/i, '$1 ');
}

function ofContainer(name: string, resources: object): object {
  return { template: { spec: { containers: [{ name, resources }] } } };
}

interface Container {
  readonly name: string;
  readonly limit: string | undefined;
  readonly request: string | undefined;
}

/** The container of that name, or the only one. */
function containerIn(spec: unknown, wanted: string | undefined): Container | undefined {
  const listed = inside(spec, 'template', 'spec', 'containers');
  const containers = (Array.isArray(listed) ? (listed as readonly unknown[]) : []).flatMap((one): Container[] => {
    const text = (...keys: readonly string[]): string | undefined => {
      const found = inside(one, ...keys);
      return typeof found === 'string' ? found : undefined;
    };
    const name = text('name');
    if (name === undefined) return [];
    const [limit, request] = [text('resources', 'limits', 'memory'), text('resources', 'requests', 'memory')];
    return [{ name, limit, request }];
  });
  return containers.find(({ name }) => name === wanted) ?? (containers.length === 1 ? containers[0] : undefined);
}

/** The image of a spec of a Job that has one container; undefined: it has more, or is not known. */
export function onlyImageIn(spec: unknown): string | undefined {
  const containers = inside(spec, 'template', 'spec', 'containers');
  const [first, second] = Array.isArray(containers) ? (containers as readonly unknown[]) : [];
  const image = second === undefined ? inside(first, 'image') : undefined;
  return typeof image === 'string' ? image : undefined;
}

function inside(value: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce<unknown>(
    (found, key) =>
      typeof found === 'object' && found !== null ? (found as Readonly<Record<string, unknown>>)[key] : undefined,
    value,
  );
}

/** `512Mi` doubled is `1Gi`; a quantity of another form is doubled as it stands. */
function doubledMemory(limit: string): string {
  const [, digits = '', unit = ''] = /^(\d+(?:\.\d+)?)([A-Za-z]*)$/.exec(limit) ?? [];
  if (digits === '') return limit;
  const twice = 2 * Number(digits);
  const larger: Readonly<Record<string, string>> = { Ki: 'Mi', Mi: 'Gi', Gi: 'Ti' };
  const next = larger[unit];
  return next !== undefined && twice >= 1_024 && twice % 1_024 === 0 ? `${twice / 1_024}${next}` : `${twice}${unit}`;
}
