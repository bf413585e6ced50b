import { fieldsOf, type Fields } from '../json.ts';
import type { KubeObject } from '../storage/kube-object.ts';

/** An event of the core group as the group events.k8s.io shows it. */
export function presentEvent(event: KubeObject): Fields {
  const fields: Fields = {
    kind: 'Event',
    apiVersion: 'events.k8s.io/v1',
    metadata: event.metadata,
    eventTime: event['eventTime'] ?? null,
    series: event['series'],
    reportingController: textOrUndefined(event['reportingComponent']),
    reportingInstance: textOrUndefined(event['reportingInstance']),
    action: event['action'],
    reason: event['reason'],
    regarding: fieldsOf(event['involvedObject']),
    related: event['related'],
    note: event['message'],
    type: event['type'],
    deprecatedSource: fieldsOf(event['source']),
    deprecatedFirstTimestamp: event['firstTimestamp'] ?? null,
    deprecatedLastTimestamp: event['lastTimestamp'] ?? null,
    deprecatedCount: event['count'],
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** An event sent in the words of events.k8s.io as the core group stores it. */
export function storedEvent(event: KubeObject): KubeObject {
  const source = fieldsOf(event['deprecatedSource']);
  return {
    kind: 'Event',
    apiVersion: 'v1',
    metadata: event.metadata,
    involvedObject: fieldsOf(event['regarding']),
    ...defined({ reason: event['reason'], message: event['note'], source }),
    firstTimestamp: event['deprecatedFirstTimestamp'] ?? null,
    lastTimestamp: event['deprecatedLastTimestamp'] ?? null,
    ...defined({ count: event['deprecatedCount'], type: event['type'] }),
    eventTime: event['eventTime'] ?? null,
    ...defined({ series: event['series'], action: event['action'], related: event['related'] }),
    reportingComponent: event['reportingController'] ?? '',
    reportingInstance: event['reportingInstance'] ?? '',
  };
}

function textOrUndefined(value: unknown): unknown {
  return value === '' ? undefined : value;
}

function defined(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
