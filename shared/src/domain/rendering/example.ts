import type { AlertType, Ref, Severity } from '../../contract/index.ts';
import { nameFinding } from '../alert-types/traits.ts';
import type { Message, Outgoing } from '../delivery/message.ts';
import { headingOf } from '../delivery/title.ts';
import type { Instant } from '../instant.ts';
import { refText } from '../../contract/wording.ts';

/** Stands in the place of ids: nothing has happened. */
const exampleId = '00000000-0000-7000-8000-00000000e0e0';

/** A message about an alert that is not there, as it would be told first. `externalUrl` undefined: without links. */
export function exampleOutgoing(of: {
  readonly cluster: string | undefined;
  readonly externalUrl: string | undefined;
  readonly monitor: Ref;
  readonly cronJob: Ref;
  readonly type: AlertType;
  readonly severity: Severity;
  readonly at: Instant;
}): Outgoing {
  const { cluster, externalUrl, monitor, cronJob, type, severity, at } = of;
  const time = new Date(at).toISOString();
  const page = `${externalUrl?.replace(/\/+$/, '')}/cronjobs/${refText(cronJob)}`;
  const message: Message = {
    kind: 'firing',
    data: {
      cluster: cluster ?? null,
      alert: {
        id: exampleId,
        shortId: exampleId.slice(-8),
        type,
        subject: null,
        severity,
        state: 'active',
        title: `${severity.toUpperCase()} ${refText(cronJob)}: ${nameFinding(type, null)}`,
        message: 'This is an example: nothing has happened.',
        since: time,
        detectedAt: time,
        endedAt: null,
        closeCause: null,
        cause: null,
        scope: null,
        occurrences: 1,
        notification: 1,
        heldBy: null,
        heldSeconds: 0,
        delayed: false,
        flapping: false,
        firstNotice: false,
      },
      monitor: { namespace: monitor.namespace, name: monitor.name },
      cronjob: { ...cronJob, uid: exampleId, schedule: null, timezone: null, lastSuccess: null, nextRun: null },
      job: null,
      context: {
        pending: false,
        suggestedFix: null,
        logs: null,
        logsTruncated: false,
        logsUnavailable: null,
        events: null,
        pods: null,
        changes: null,
      },
      links: { cronjob: externalUrl === undefined ? null : page, alert: null, execution: null, runbook: null },
    },
  };
  return {
    message,
    heading: headingOf(message),
    place: null,
    deliveryId: exampleId,
    streamId: exampleId,
    createdAt: at,
    source: 'cronjob-monitor',
  };
}
