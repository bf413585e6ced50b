import type {
  HealthState,
  Wall,
  WallGroup,
  WallOutcome,
  WallSortKey,
  WallStep,
} from '@cronjob-monitor/shared/contract';
import { get, type Answer } from './client.ts';

/** The fleet in columns of time: what was, and what is to come. */
export function getWall(
  query: {
    readonly step: WallStep;
    /** ISO 8601; undefined: the range of the step around now. */
    readonly from: string | undefined;
    readonly until: string | undefined;
    readonly group: WallGroup;
    readonly sort: WallSortKey;
    readonly search: string;
    readonly namespace: readonly string[];
    readonly monitor: string;
    readonly state: readonly HealthState[];
    readonly outcome: readonly WallOutcome[];
    readonly limit: number;
    readonly offset: number;
  },
  signal?: AbortSignal,
): Promise<Answer<Wall>> {
  return get('wall', { ...query }, signal);
}
