import { labelOperators, type LabelExpression, type LabelSelector } from '../selector.ts';
import { list, refine, set, textMap } from './collection.ts';
import { boolean, defaulted, duration, object, oneOf, optional, required, text } from './field.ts';
import type { JobsSpec, MonitorSelector } from './monitor-spec.ts';
import { refuse, type Reading } from './reading.ts';

const matchLabels = textMap(text(0, 63), 32);

const expression = refine(
  object({
    key: required(text(1, 317)),
    operator: required(oneOf(labelOperators)),
    values: optional(list(text(0, 63), 500)),
  }),
  ({ key, operator, values = [] }, path, reading): LabelExpression | undefined => {
    if (key === undefined || operator === undefined) return undefined;
    const wantsValues = operator === 'In' || operator === 'NotIn';
    if (wantsValues === values.length > 0) return { key, operator, values };
    return refuse(reading, path, 'In and NotIn need values, Exists and DoesNotExist take none');
  },
);

const labelMembers = { matchLabels: optional(matchLabels), matchExpressions: optional(list(expression, 32)) };

const namespaceSelector = refine(object(labelMembers), (read): LabelSelector => ({
  matchLabels: read.matchLabels ?? {},
  matchExpressions: read.matchExpressions ?? [],
}));

export const selectorField = object({
  ...labelMembers,
  matchNames: optional(set(text(1, 253), 500)),
  namespaces: optional(set(text(1, 63), 200)),
  namespaceSelector: optional(namespaceSelector),
  allNamespaces: defaulted(boolean, false),
  fallback: defaulted(boolean, false),
});

/** Nothing: what a selector selects that cannot be used as it was meant. */
export const selectsNothing: MonitorSelector = {
  matchLabels: {},
  matchExpressions: [],
  matchNames: [],
  namespaces: [],
  namespaceSelector: undefined,
  allNamespaces: false,
  fallback: false,
  unusable: true,
};

/** Reads `spec.selector`. One criterion that cannot be used makes it select nothing. */
export function readSelector(value: unknown, path: string, reading: Reading): MonitorSelector {
  const before = reading.problems.length;
  const read = selectorField.read(value, path, reading);
  if (read === undefined || reading.problems.length > before) return selectsNothing;
  const selector: MonitorSelector = {
    matchLabels: read.matchLabels ?? {},
    matchExpressions: read.matchExpressions ?? [],
    matchNames: read.matchNames ?? [],
    namespaces: read.namespaces ?? [],
    namespaceSelector: read.namespaceSelector,
    allNamespaces: read.allNamespaces ?? false,
    fallback: read.fallback ?? false,
  };
  const ways = [selector.namespaces.length > 0, selector.namespaceSelector !== undefined, selector.allNamespaces];
  if (ways.filter(Boolean).length <= 1) return selector;
  refuse(reading, path, 'give at most one of namespaces, namespaceSelector, allNamespaces');
  return selectsNothing;
}

export const jobsField = object({
  ...labelMembers,
  ownerKinds: optional(set(text(1, 63), 20)),
  hasAnnotations: optional(set(text(1, 317), 20)),
  only: defaulted(boolean, false),
  forgetAfter: defaulted(duration(), '24h'),
});

/** Reads `spec.jobs`. One criterion that cannot be used makes it select no Job. */
export function readJobs(value: unknown, path: string, reading: Reading): JobsSpec {
  const before = reading.problems.length;
  const read = jobsField.read(value, path, reading);
  const jobs = {
    matchLabels: read?.matchLabels ?? {},
    matchExpressions: read?.matchExpressions ?? [],
    ownerKinds: read?.ownerKinds ?? [],
    hasAnnotations: read?.hasAnnotations ?? [],
    only: read?.only ?? false,
    forgetAfter: read?.forgetAfter ?? '24h',
  };
  if (reading.problems.length > before) return { ...jobs, unusable: true };
  const criteria = [Object.keys(jobs.matchLabels), jobs.matchExpressions, jobs.ownerKinds, jobs.hasAnnotations];
  if (criteria.some(({ length }) => length > 0)) return jobs;
  refuse(reading, path, 'jobs needs matchLabels, matchExpressions, ownerKinds or hasAnnotations');
  return { ...jobs, unusable: true };
}
