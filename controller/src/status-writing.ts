import { ClusterError, type Cluster } from '@cronjob-monitor/shared/kube';
import type { Logger } from '@cronjob-monitor/shared/process';

export type StatusWriting = Pick<Cluster, 'patchMonitorStatus' | 'patchChannelStatus'>;

/**
 * Writes statuses. An API server checks the whole object with them: where its spec was stored before a rule was made, or around it, the
 * status is refused whatever it says, and asking again helps nobody. That is logged once until it works again; the row in the
 * database has the phase and the conditions all the same.
 */
export function createStatusWriting(cluster: StatusWriting, logger: Logger): StatusWriting {
  const refused = new Map<string, string>();

  const write = async (object: string, patch: () => Promise<void>): Promise<void> => {
    try {
      await patch();
      if (refused.delete(object)) logger.info('a status is written again', { object });
    } catch (error) {
      if (!(error instanceof ClusterError) || error.code !== 'invalid') throw error;
      if (refused.get(object) === error.message) return;
      refused.set(object, error.message);
      logger.warn('a status is refused, for its object breaks the rules of its kind', {
        object,
        reason: error.message,
      });
    }
  };

  return {
    patchMonitorStatus: (key, ...rest) =>
      write(`CronJobMonitor ${key.namespace}/${key.name}`, () => cluster.patchMonitorStatus(key, ...rest)),
    patchChannelStatus: (name, ...rest) =>
      write(`AlertChannel ${name}`, () => cluster.patchChannelStatus(name, ...rest)),
  };
}
