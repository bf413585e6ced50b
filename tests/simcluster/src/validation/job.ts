import { fieldsOf, listOf, sameJson, textOf, type Fields } from '../json.ts';
import type { KubeObject } from '../storage/kube-object.ts';
import { readCronText } from '../schedule/cron-text.ts';
import { isZoneName } from '../schedule/zone-names.ts';
import { invalid, nonNegative, notSupported, required, type Fault } from './fault.ts';
import { podSpecFaults } from './pod.ts';

/** A CronJob's name is the stem of names with 11 more characters. */
const longestCronJobName = 52;
const maxIndexedParallelism = 100_000;

export function cronJobFaults(cronJob: KubeObject): Fault[] {
  const { name } = cronJob.metadata;
  const tooLongName = invalid('metadata.name', name, `must be no more than ${longestCronJobName} characters`);
  return [...cronJobSpecFaults(fieldsOf(cronJob.spec)), ...(name.length > longestCronJobName ? [tooLongName] : [])];
}

function cronJobSpecFaults(spec: Fields): Fault[] {
  const policy = textOf(spec['concurrencyPolicy']);
  const policies = ['Allow', 'Forbid', 'Replace'];
  return [
    ...scheduleFaults(textOf(spec['schedule'])),
    ...nonNegative('spec.startingDeadlineSeconds', spec['startingDeadlineSeconds']),
    ...timeZoneFaults(spec['timeZone']),
    ...(policies.includes(policy) ? [] : [notSupported('spec.concurrencyPolicy', policy, policies)]),
    ...jobTemplateFaults(fieldsOf(fieldsOf(spec['jobTemplate'])['spec']), 'spec.jobTemplate.spec'),
    ...nonNegative('spec.successfulJobsHistoryLimit', spec['successfulJobsHistoryLimit']),
    ...nonNegative('spec.failedJobsHistoryLimit', spec['failedJobsHistoryLimit']),
  ];
}

function scheduleFaults(schedule: string): Fault[] {
  if (schedule === '') return [required('spec.schedule')];
  const faults: Fault[] = [];
  try {
    readCronText(schedule);
  } catch (error) {
    faults.push(invalid('spec.schedule', schedule, error instanceof Error ? error.message : String(error)));
  }
  if (schedule.includes('TZ')) {
    faults.push(invalid('spec.schedule', schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'));
  }
  return faults;
}

function timeZoneFaults(zone: unknown): Fault[] {
  if (typeof zone !== 'string') return [];
  const fault = (detail: string): Fault[] => [invalid('spec.timeZone', zone, detail)];
  if (zone === '') return fault('timeZone must be nil or non-empty string');
  if (zone.toLowerCase() === 'local') {
    return fault('timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones');
  }
  return isZoneName(zone) ? [] : fault(`unknown time zone ${zone}`);
}

/** Faults of the Job that a CronJob would make. */
function jobTemplateFaults(spec: Fields, field: string): Fault[] {
  const faults: Fault[] = [];
  if (spec['selector'] !== undefined) {
    faults.push(invalid(`${field}.selector`, spec['selector'], '`selector` will be auto-generated'));
  }
  if (spec['manualSelector'] === true) {
    faults.push(notSupported(`${field}.manualSelector`, true, ['nil', 'false']));
  }
  return [...faults, ...jobSpecFaults(spec, field)];
}

export function jobFaults(job: KubeObject): Fault[] {
  return jobSpecFaults(fieldsOf(job.spec), 'spec');
}

function jobSpecFaults(spec: Fields, field: string): Fault[] {
  const numbers = [
    'parallelism',
    'completions',
    'activeDeadlineSeconds',
    'backoffLimit',
    'ttlSecondsAfterFinished',
    'backoffLimitPerIndex',
    'maxFailedIndexes',
  ];
  return [
    ...numbers.flatMap((name) => nonNegative(`${field}.${name}`, spec[name])),
    ...completionModeFaults(spec, field),
    ...podFailurePolicyFaults(spec['podFailurePolicy'], field),
    ...successPolicyFaults(spec, field),
    ...podSpecFaults(fieldsOf(spec['template'])['spec'], `${field}.template.spec`),
    ...restartPolicyFaults(spec, field),
  ];
}

function completionModeFaults(spec: Fields, field: string): Fault[] {
  const faults: Fault[] = [];
  const mode = spec['completionMode'];
  const indexed = mode === 'Indexed';
  if (mode !== undefined && mode !== 'NonIndexed' && !indexed) {
    faults.push(notSupported(`${field}.completionMode`, mode, ['Indexed', 'NonIndexed']));
  }
  if (indexed && spec['completions'] === undefined) {
    faults.push(required(`${field}.completions`, 'when completion mode is Indexed'));
  }
  if (indexed && Number(spec['parallelism'] ?? 0) > maxIndexedParallelism) {
    const detail = `must be less than or equal to ${maxIndexedParallelism} when completion mode is Indexed`;
    faults.push(invalid(`${field}.parallelism`, spec['parallelism'], detail));
  }
  if (indexed && Number(spec['maxFailedIndexes'] ?? 0) > Number(spec['completions'] ?? Infinity)) {
    faults.push(
      invalid(`${field}.maxFailedIndexes`, spec['maxFailedIndexes'], 'must be less than or equal to completions'),
    );
  }
  if (!indexed && spec['backoffLimitPerIndex'] !== undefined) {
    faults.push(
      invalid(`${field}.backoffLimitPerIndex`, spec['backoffLimitPerIndex'], 'requires indexed completion mode'),
    );
  }
  if (!indexed && spec['maxFailedIndexes'] !== undefined) {
    faults.push(invalid(`${field}.maxFailedIndexes`, spec['maxFailedIndexes'], 'requires indexed completion mode'));
  }
  if (spec['maxFailedIndexes'] !== undefined && spec['backoffLimitPerIndex'] === undefined) {
    faults.push(required(`${field}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified'));
  }
  return faults;
}

function podFailurePolicyFaults(policy: unknown, field: string): Fault[] {
  const actions = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
  return listOf(fieldsOf(policy)['rules']).flatMap((value, index) => {
    const rule = fieldsOf(value);
    const at = `${field}.podFailurePolicy.rules[${index}]`;
    const faults: Fault[] = [];
    const action = textOf(rule['action']);
    if (action === '') {
      faults.push(required(`${at}.action`, `valid values: ${actions.map((one) => JSON.stringify(one)).join(', ')}`));
    } else if (!actions.includes(action)) {
      faults.push(notSupported(`${at}.action`, action, actions));
    }
    const codes = rule['onExitCodes'];
    const conditions = rule['onPodConditions'];
    if (codes === undefined && conditions === undefined) {
      faults.push(invalid(at, value, 'specifying one of OnExitCodes and OnPodConditions is required'));
    }
    if (codes !== undefined && conditions !== undefined) {
      faults.push(invalid(at, value, 'specifying both OnExitCodes and OnPodConditions is not supported'));
    }
    if (codes !== undefined) faults.push(...exitCodeFaults(fieldsOf(codes), `${at}.onExitCodes`));
    return faults;
  });
}

function exitCodeFaults(codes: Fields, field: string): Fault[] {
  const faults: Fault[] = [];
  const operator = textOf(codes['operator']);
  if (operator !== 'In' && operator !== 'NotIn')
    faults.push(notSupported(`${field}.operator`, operator, ['In', 'NotIn']));
  const values = listOf(codes['values']);
  if (values.length === 0) faults.push(invalid(`${field}.values`, values, 'at least one value is required'));
  values.forEach((value, index) => {
    if (operator === 'In' && value === 0) {
      faults.push(invalid(`${field}.values[${index}]`, 0, 'must not be 0 for the In operator'));
    }
  });
  return faults;
}

function successPolicyFaults(spec: Fields, field: string): Fault[] {
  if (spec['successPolicy'] === undefined || spec['completionMode'] === 'Indexed') return [];
  const rules = listOf(fieldsOf(spec['successPolicy'])['rules']).map((value) => {
    const rule = fieldsOf(value);
    return { SucceededIndexes: rule['succeededIndexes'] ?? null, SucceededCount: rule['succeededCount'] ?? null };
  });
  return [invalid(`${field}.successPolicy`, { Rules: rules }, 'requires indexed completion mode')];
}

function restartPolicyFaults(spec: Fields, field: string): Fault[] {
  const policy = textOf(fieldsOf(fieldsOf(spec['template'])['spec'])['restartPolicy']);
  const at = `${field}.template.spec.restartPolicy`;
  if (policy !== 'OnFailure' && policy !== 'Never') return [required(at, 'valid values: "OnFailure", "Never"')];
  if (spec['podFailurePolicy'] !== undefined && policy !== 'Never') {
    return [invalid(at, policy, 'only "Never" is supported when podFailurePolicy is specified')];
  }
  return [];
}

/** What of a Job may not change once it is there. A suspended Job that never started may still get another template. */
export function jobUpdateFaults(job: KubeObject, old: KubeObject): Fault[] {
  const spec = fieldsOf(job.spec);
  const before = fieldsOf(old.spec);
  const neverStarted = before['suspend'] === true && fieldsOf(old.status)['startTime'] === undefined;
  const fixed = [
    'completionMode',
    'podFailurePolicy',
    'successPolicy',
    'backoffLimitPerIndex',
    'managedBy',
    'selector',
  ];
  if (before['completionMode'] !== 'Indexed') fixed.push('completions');
  if (!neverStarted) fixed.push('template');
  return fixed
    .filter((name) => !sameJson(spec[name], before[name]))
    .map((name) => invalid(`spec.${name}`, spec[name], 'field is immutable'));
}
