import { slaSubjects, slaTargetVerdicts, type SlaSortKey, type SlaTarget } from '@cronjob-monitor/shared/contract';

const keys: Readonly<Record<SlaSortKey, (target: SlaTarget) => string | number | null>> = {
  verdict: ({ verdict }) => slaTargetVerdicts.indexOf(verdict),
  name: ({ cronjob }) => cronjob.name,
  namespace: ({ cronjob }) => cronjob.namespace,
  failuresLeft: (target) => target.failuresLeft,
};

/** In the order asked for, unknown values last both ways; ties by CronJob, monitor and subject. */
export function orderTargets(
  targets: readonly SlaTarget[],
  sort: { readonly key: SlaSortKey; readonly descending: boolean },
): SlaTarget[] {
  const keyOf = keys[sort.key];
  const sign = sort.descending ? -1 : 1;
  return targets.toSorted((a, b) => {
    const [left, right] = [keyOf(a), keyOf(b)];
    if (left !== right) {
      if (left === null) return 1;
      if (right === null) return -1;
      return left < right ? -sign : sign;
    }
    return compareTies(a, b);
  });
}

function compareTies(a: SlaTarget, b: SlaTarget): number {
  return (
    compareText(a.cronjob.namespace, b.cronjob.namespace) ||
    compareText(a.cronjob.name, b.cronjob.name) ||
    compareText(a.monitor.namespace, b.monitor.namespace) ||
    compareText(a.monitor.name, b.monitor.name) ||
    slaSubjects.indexOf(a.subject) - slaSubjects.indexOf(b.subject)
  );
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
