// Words for fields that have no description in their schema. A description there is better: kubectl explain shows it.
import { alertTypes, alertTypeTable } from '../../shared/src/contract/index.ts';

const conditions = {
  'status.conditions': 'What is so, and why; see below.',
  'status.conditions[].type': 'Which condition.',
  'status.conditions[].status': 'Whether it is so.',
  'status.conditions[].reason': 'Why, in one word.',
  'status.conditions[].message': 'Why, in sentences.',
  'status.conditions[].lastTransitionTime': '`status` is what it is since then.',
  'status.conditions[].observedGeneration': 'Generation of the resource that was judged.',
};

/** Without the kind and `spec.`. */
const words = {
  CronJobMonitor: {
    'deadManSwitch.enabled': '`false` switches the block off.',
    'deadManSwitch.autoFromSchedule.enabled': '`false` switches the block off.',
    'missedSchedule.enabled': '`false` switches the block off.',
    'jobFailed.enabled': '`false` switches the block off.',
    'jobFailed.failuresOfLast.failures': 'So many failures; at most `runs`.',
    'jobFailed.failuresOfLast.runs': 'Among so many of the last runs.',
    'sla.enabled': '`false` switches the whole block off, the comparison of durations too.',
    'stuckJobs.enabled': '`false` switches the block off.',
    'alerting.enabled': '`false`: nobody is told; alerts are raised and shown all the same.',
    'alerting.includeContext.logs': 'The end of the log of the failed run.',
    'alerting.includeContext.events': 'Events of the Job and its pods.',
    'alerting.includeContext.includeInitContainerLogs': 'Logs of init containers, before that of the container.',
    'alerting.includeContext.podStatus': 'Phase, reason and node of the pods.',
    'alerting.includeContext.suggestedFixes': 'What the pattern that fits best suggests.',
    ...Object.fromEntries(
      alertTypes.map((type) => [
        `alerting.severityOverrides.${type}`,
        `Severity of these alerts. Without it \`${alertTypeTable[type].severity}\`.`,
      ]),
    ),
    'alerting.suggestedFixPatterns[].match.exitCode': 'Exit code of the container that failed.',
    'alerting.suggestedFixPatterns[].match.exitCodeRange': 'An exit code from `min` to `max`.',
    'alerting.suggestedFixPatterns[].match.exitCodeRange.min': 'Lowest, itself included.',
    'alerting.suggestedFixPatterns[].match.exitCodeRange.max': 'Highest, itself included.',
    'dataRetention.purgeAfterDays': 'Days from the deletion to the purge, for `purge-after-days`.',
    'status.phase': 'The worst that the conditions say.',
    'status.summary': 'Selected CronJobs, counted.',
    'status.summary.totalCronJobs': 'All of them.',
    'status.summary.healthy': 'Their health is `healthy`.',
    'status.summary.warning': 'Their worst alert is a warning.',
    'status.summary.critical': 'They have a critical alert.',
    'status.summary.suspended': 'They are suspended, whatever their health is.',
    'status.summary.running': 'They have a Job that has not ended, whatever their health is.',
    'status.summary.unknown': 'No run of theirs is known to have ended.',
    'status.summary.activeAlerts': 'Alerts of this monitor that are active or suppressed.',
    'status.cronJobs[].namespace': 'Its namespace.',
    'status.cronJobs[].name': 'Its name.',
    'status.cronJobs[].status':
      'Its health: the severity of its worst alert, else `suspended`, else `healthy` once a run has ended, else `unknown`.',
    'status.cronJobs[].suspended': 'Whether it is suspended.',
    'status.cronJobs[].runningJobs': 'Jobs that have not ended.',
    'status.cronJobs[].lastSuccessfulTime': 'End of the last success.',
    'status.cronJobs[].lastFailedTime': 'End of the last failure.',
    'status.cronJobs[].metrics': 'Figures over `sla.windowDays`, or 7 days.',
    'status.cronJobs[].metrics.totalRuns': 'Scheduled runs that succeeded or failed.',
    'status.cronJobs[].metrics.successfulRuns': 'Those that succeeded.',
    'status.cronJobs[].metrics.failedRuns': 'Those that failed.',
    'status.cronJobs[].metrics.avgDurationSeconds': 'Mean duration of successes; absent without one.',
    'status.cronJobs[].metrics.p50DurationSeconds': 'Median of the same.',
    'status.cronJobs[].metrics.p95DurationSeconds': '95th percentile of the same.',
    'status.cronJobs[].metrics.p99DurationSeconds': '99th percentile of the same.',
    'status.cronJobs[].activeAlerts': 'Alerts of this monitor that are active or suppressed, the worst first.',
    'status.cronJobs[].activeAlerts[].type': 'What is the matter.',
    'status.cronJobs[].activeAlerts[].subject': 'Which condition of the type, where it has several.',
    'status.cronJobs[].activeAlerts[].severity': 'How bad it is.',
    'status.cronJobs[].activeAlerts[].since': 'When the condition began.',
    'status.cronJobs[].activeAlerts[].message': 'The sentences of the message, cut.',
    'status.cronJobs[].activeAlerts[].lastNotified': 'When somebody was told last.',
    'status.cronJobs[].activeAlerts[].exitCode': 'Of the run it is about.',
    'status.cronJobs[].activeAlerts[].reason': 'Of the run it is about.',
    ...conditions,
  },
  AlertChannel: {
    type: 'What kind of receiver it is; the block of the same name says the rest.',
    'webhook.method': 'Method of the request.',
    'rateLimiting.maxAlertsPerHour': 'Messages in an hour.',
    'status.observedGeneration': 'Generation that was judged last.',
    'status.ready': 'Whether it can be used, as far as is known.',
    'status.lastFailedTime': 'Last failed attempt.',
    'status.lastFailedError': 'What went wrong then, without anything secret.',
    'status.lastTestTime': 'Last test.',
    'status.lastTestResult': 'How it ended.',
    'status.lastTestError': 'Why it failed.',
    'status.lastTestedGeneration': 'Generation that `testOnSave` has tested.',
    ...conditions,
  },
};

const used = new Set();

/** What a field is for. Throws when neither the schema nor this file says it. */
export function meaningOf(kind, { path, description }) {
  if (description !== undefined) return description;
  const own = words[kind][path];
  if (own === undefined) throw new Error(`${kind} ${path} has no description in its CustomResourceDefinition`);
  used.add(`${kind} ${path}`);
  return own;
}

/** Fields that are no more, or that the schema describes by now. */
export function unusedWords() {
  return Object.entries(words).flatMap(([kind, ofKind]) =>
    Object.keys(ofKind)
      .map((path) => `${kind} ${path}`)
      .filter((name) => !used.has(name)),
  );
}
