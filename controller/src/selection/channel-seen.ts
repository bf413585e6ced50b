import { decodeChannelSpec, type DecodedChannel, type RawObject } from '@cronjob-monitor/shared/kube';

/** An AlertChannel as the cluster shows it, its spec decoded on arrival. */
export interface ChannelSeen {
  readonly uid: string;
  /** Empty: the kind belongs to no namespace. */
  readonly namespace: string;
  readonly name: string;
  readonly generation: number;
  readonly resourceVersion: string;
  readonly decoded: DecodedChannel;
  readonly status: unknown;
}

/** Undefined for what is no object of an API server. */
export function toChannelSeen(raw: RawObject): ChannelSeen | undefined {
  const metadata = raw['metadata'];
  if (typeof metadata !== 'object' || metadata === null) return undefined;
  const { uid, name, generation, resourceVersion } = metadata as Readonly<Record<string, unknown>>;
  if (typeof uid !== 'string' || typeof name !== 'string') return undefined;
  return {
    uid,
    namespace: '',
    name,
    generation: typeof generation === 'number' ? generation : 0,
    resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : '',
    decoded: decodeChannelSpec(raw),
    status: raw['status'],
  };
}
