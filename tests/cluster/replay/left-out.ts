const noReadyWrite =
  'its pod ended within the milliseconds in which the Job was looked at, so that the Job was never written with a ready ' +
  'pod; the other pods of one second were written so, and the simulated cluster always does it';

const noRules = 'the simulated cluster checks custom resources by their schemas, not by their CEL rules';

/** Recorded cases that are not replayed against the simulated cluster, by topic and name, and why. */
export const leftOut: Readonly<Record<string, string>> = {
  'crd/cel': noRules,
  'crd/cel-transition': noRules,
  'cronjob-lifecycle/retry-then-success': noReadyWrite,
  'cronjob-lifecycle/oom': noReadyWrite,
  'cronjob-lifecycle/too-many-missed': noReadyWrite,
  'cronjob-lifecycle/history-limit-zero-failed':
    'the controller read its cache before its own write had come back and told of a missing Job; in ' +
    'history-limit-zero-success it did not, and the simulated cluster has no such lag',
};
