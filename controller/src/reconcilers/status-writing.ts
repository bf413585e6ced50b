import { type Problem, refText } from '@cronjob-monitor/shared/domain';
import { ClusterError, type Cluster } from '@cronjob-monitor/shared/kube';
import type { Clock, Logger } from '@cronjob-monitor/shared/process';

interface StatusWriting extends Pick<Cluster, 'patchMonitorStatus' | 'patchChannelStatus'> {
  /** What keeps statuses from being written, for the list of problems. */
  problems(): Problem[];
  /** The last write of this monitor's status was refused: it is worth another try before long. */
  isMonitorRefused(key: { readonly namespace: string; readonly name: string }): boolean;
}

/** Each status is written every 5 minutes at least: what was not refused again for longer is refused no more, or its object is gone. */
const forgottenAfterMs = 11 * 60_000;

type Resource = 'cronjobmonitors' | 'alertchannels';

interface Refusal {
  readonly resource: Resource;
  readonly name: string;
  /** The right is missing; else the object breaks the rules of its kind. */
  readonly isForbidden: boolean;
  readonly reason: string;
  readonly atMs: number;
}

/**
 * Writes statuses. A refused one is no fault of the key: the row in the database has the phase and the conditions all the same, and asking
 * again at once does not help. An account without the right is a problem of the service. So is an object that breaks the rules of its kind, for
 * an API server checks the whole object with its status: its spec was stored before a rule was made, or around it.
 */
export function createStatusWriting({
  cluster,
  clock,
  logger,
}: {
  readonly cluster: Pick<Cluster, 'patchMonitorStatus' | 'patchChannelStatus'>;
  readonly clock: Clock;
  readonly logger: Logger;
}): StatusWriting {
  const refused = new Map<string, Refusal>();

  const write = async (resource: Resource, name: string, patch: () => Promise<void>): Promise<void> => {
    const object = `${resource} ${name}`;
    try {
      await patch();
      const earlier = refused.get(object);
      refused.delete(object);
      if (earlier && !earlier.isForbidden) logger.info('a status is written again', { object });
    } catch (error) {
      if (!(error instanceof ClusterError) || !(error.code === 'invalid' || error.code === 'forbidden')) throw error;
      const earlier = refused.get(object);
      const isForbidden = error.code === 'forbidden';
      refused.set(object, { resource, name, isForbidden, reason: error.message, atMs: clock.monotonicMs() });
      if (isForbidden || earlier?.reason === error.message) return; // a missing right is told by the list of problems, once for all
      logger.warn('a status is refused, for its object breaks the rules of its kind', {
        object,
        reason: error.message,
      });
    }
  };

  return {
    patchMonitorStatus: (key, ...rest) =>
      write('cronjobmonitors', refText(key), () => cluster.patchMonitorStatus(key, ...rest)),
    patchChannelStatus: (name, ...rest) =>
      write('alertchannels', name, () => cluster.patchChannelStatus(name, ...rest)),
    isMonitorRefused: (key) => refused.has(`cronjobmonitors ${refText(key)}`),
    problems() {
      const sinceMs = clock.monotonicMs() - forgottenAfterMs;
      for (const [object, { atMs }] of refused) if (atMs < sinceMs) refused.delete(object);
      const all = [...refused.values()];
      return (['cronjobmonitors', 'alertchannels'] as const).flatMap((resource) => {
        const of = all.filter((refusal) => refusal.resource === resource);
        return [...forbiddenProblem(resource, of), ...invalidProblem(resource, of)];
      });
    },
  };
}

function forbiddenProblem(resource: Resource, refusals: readonly Refusal[]): Problem[] {
  const names = refusals.filter(({ isForbidden }) => isForbidden).map(({ name }) => name);
  if (names.length === 0) return [];
  const sentence = `the service may not patch ${resource}/status (${listed(names)}): give its account the right to (rbac.create of the chart does)`;
  return [{ key: `forbidden ${resource}/status`, cause: 'statusRefused', sentence, blocks: false }];
}

function invalidProblem(resource: Resource, refusals: readonly Refusal[]): Problem[] {
  const names = refusals.filter(({ isForbidden }) => !isForbidden).map(({ name }) => name);
  if (names.length === 0) return [];
  const sentence = `the API server refuses the status of ${resource} (${listed(names)}), whose spec breaks the rules of its definition: correct the spec; the log has the reason`;
  return [{ key: `invalid ${resource}/status`, cause: 'statusRefused', sentence, blocks: false }];
}

/** The first by name, and how many more. */
function listed(names: readonly string[]): string {
  const [first = ''] = [...names].sort();
  return names.length === 1 ? first : `${first} and ${names.length - 1} more`;
}
