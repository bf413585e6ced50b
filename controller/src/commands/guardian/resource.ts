import { decodeChannelSpec, decodeMonitorSpec } from '@cronjob-monitor/shared/kube';
import { usualDefaults } from '../judge-resources.ts';
import { isObject, type SourceDocument } from '../read-documents.ts';
import { convertChannel } from './channel.ts';
import { convertMonitor } from './monitor.ts';
import { leaveOut } from './leave-out.ts';
import { Block, type Json, type Remark } from './remark.ts';

/** One of our resources, made of one of theirs. */
export interface Converted {
  readonly object: Json;
  readonly remarks: readonly Remark[];
}

const group = 'guardian.illenium.net/';

/** Whether a document is one of cronjob-guardian's resources. */
export function isGuardian({ object }: SourceDocument): boolean {
  return typeof object['apiVersion'] === 'string' && object['apiVersion'].startsWith(group);
}

/** Undefined for a kind that has no counterpart. The result is read as the service reads it, and what is wrong with it is told too. */
export function convertResource({ object }: SourceDocument): Converted | undefined {
  const { kind } = object;
  const remarks: Remark[] = [];
  const spec = new Block('spec', object['spec'], remarks);
  const metadata = convertMetadata(object['metadata']);
  const outside = { apiVersion: 'cronjob-monitor.io/v1alpha1', kind, metadata };
  if (kind === 'CronJobMonitor') {
    const usable = leaveOut({ ...outside, spec: convertMonitor(spec) }, (converted) => {
      const decoded = decodeMonitorSpec(converted, usualDefaults);
      return decoded.ok ? decoded.problems : [{ path: 'spec', message: decoded.undecodable }];
    });
    return { object: usable.object, remarks: [...remarks, ...usable.remarks] };
  }
  if (kind !== 'AlertChannel') return undefined;
  const usable = leaveOut(
    { ...outside, spec: convertChannel(spec) },
    (converted) => decodeChannelSpec(converted).problems,
  );
  return { object: usable.object, remarks: [...remarks, ...usable.remarks] };
}

/** Name, namespace, labels and annotations of a person; nothing that a cluster or a tool wrote. */
function convertMetadata(given: unknown): Json {
  const { name, namespace, labels, annotations } = isObject(given) ? given : {};
  const theirs = isObject(annotations)
    ? Object.fromEntries(Object.entries(annotations).filter(([key]) => !key.startsWith('kubectl.kubernetes.io/')))
    : {};
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    ...(isObject(labels) && { labels }),
    ...(Object.keys(theirs).length > 0 && { annotations: theirs }),
  };
}
