import type { AlertRules, MutableAlert, RateLimit } from '@cronjob-monitor/shared/domain';
import type { ChannelSpec, Cluster, SecretRules } from '@cronjob-monitor/shared/kube';
import type { Clock, Logger } from '@cronjob-monitor/shared/process';
import type { Store } from '@cronjob-monitor/shared/store';
import type { SendDeps } from '../channels/index.ts';
import type { DeliveryMetrics } from '../metrics/index.ts';
import type { FreezeMessage } from '../alerting/index.ts';
import type { Dependents } from './take-back.ts';

export interface DispatcherDeps {
  readonly store: Store;
  readonly epoch: number;
  /** The pod, and this start of it: claims of earlier starts are freed at once. */
  readonly sender: { readonly pod: string; readonly boot: string };
  readonly channels: {
    /** As the cluster shows it; undefined: it is gone, or not seen yet. */
    find(
      uid: string,
    ): { readonly name: string; readonly decoded: { readonly spec: ChannelSpec | undefined } } | undefined;
  };
  readonly cluster: Pick<Cluster, 'findSecret'>;
  readonly secretRules: SecretRules;
  /** Which addresses messages may go to, and how names become addresses. */
  readonly sending: Omit<SendDeps, 'clock'>;
  readonly metrics: DeliveryMetrics;
  readonly settings: {
    /** `rate-limits.max-alerts-per-minute` and `rate-limits.burst-limit`. */
    readonly globalLimit: RateLimit;
    /** Monotonic instant of the start of the process, and `scheduler.startup-grace-period` after it. */
    readonly startedMs: number;
    readonly startupGraceMs: number;
    /** `cluster.name`. */
    readonly clusterName: string | undefined;
    /** `ui.external-url`. */
    readonly externalUrl: string | undefined;
    /** Names the cluster to receivers that keep alerts of many. */
    readonly source: string;
  };
  /** Whether messages may have to make way for those of parents. */
  readonly dependents: Pick<Dependents, 'any'>;
  /** Words anew what waited. */
  readonly freeze: FreezeMessage;
  /** What a monitor asks for now; undefined: it is gone, or cannot be read. */
  readonly rulesOf: (alert: MutableAlert) => AlertRules | undefined;
  /** The first full evaluation of this term is done. */
  readonly hasEvaluated: () => boolean;
  /**
   * Whether the lead is sure enough to begin a send, and from which monotonic instant on no earlier leader begins one: then what it had
   * claimed is freed. Undefined where nothing says so: claims run out by themselves.
   */
  readonly guard?:
    | {
        readonly earlierEndMs: number;
        readonly isOpen: () => boolean;
        /** Resolves when it is, or with the signal. */
        readonly whenOpen: (signal: AbortSignal) => Promise<void>;
      }
    | undefined;
  /** What is stored of a channel changed: its status is to be written. */
  readonly onChannelChanged: (uid: string) => void;
  readonly database: {
    /** Nothing is wrong with the work: it waits. */
    readonly isAway: (error: unknown) => boolean;
    /** Resolves when it answers again, or the signal aborts. */
    readonly whenBack: (error: unknown, signal: AbortSignal) => Promise<void>;
  };
  /** A message was delivered that says less than is so: a digest, or a change of what was told before. */
  readonly onMoreToTell?: ((channelUid: string) => void) | undefined;
  /** Another process took the epoch. */
  readonly onFenced: () => void;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Uniform in [0, 1). */
  readonly random?: (() => number) | undefined;
}

/** Sends what stands in the outbox, while this replica leads. */
export interface Dispatcher {
  /** Begins to send until the signal aborts; then nothing more is sent or written. Returns at once. */
  start(signal: AbortSignal): void;
  /** Something was committed that may be due. */
  wake(): void;
  /** Does the work as if it were a message to the channel: in turn with its messages, and while the lead is sure. */
  turn<T>(channelUid: string, work: () => Promise<T>): Promise<T>;
  /** Claims nothing more; resolves when what is on its way is settled, within the time that a send may take. */
  stop(): Promise<void>;
}
