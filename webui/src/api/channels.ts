import type {
  AcknowledgedDrill,
  ChannelDetail,
  ChannelList,
  ChannelRendering,
  ChannelTestResult,
  ChannelType,
  DeliveryKind,
  DeliveryPage,
  DeliveryState,
  Drill,
  DrillAcknowledgement,
  DrillList,
  RedriveResult,
} from '@cronjob-monitor/shared/contract';
import { act, get, type Answer } from './client.ts';

interface ChannelQuery {
  /** Of another cluster than the one that is shown. */
  readonly cluster?: string;
  readonly type?: readonly ChannelType[];
  readonly ready?: boolean;
  readonly sort?: string;
}

interface DeliveryQuery {
  readonly channel?: readonly string[];
  readonly state?: readonly DeliveryState[];
  readonly kind?: readonly DeliveryKind[];
  readonly alert?: string;
  readonly limit?: number;
  readonly offset?: number;
}

export function listChannels(query: ChannelQuery, signal?: AbortSignal): Promise<Answer<ChannelList>> {
  return get('channels', { ...query }, signal);
}

export function getChannel(name: string, signal?: AbortSignal): Promise<Answer<ChannelDetail>> {
  return get(pathOf(name), {}, signal);
}

export function getRendering(name: string, signal?: AbortSignal): Promise<Answer<ChannelRendering>> {
  return get(`${pathOf(name)}/rendered`, {}, signal);
}

/** Sends a test through the controller; the answer comes after 15 s at the latest. */
export function testChannel(name: string): Promise<ChannelTestResult> {
  return act('POST', `${pathOf(name)}/test`);
}

/** Sends a drill now. */
export function drillChannel(name: string): Promise<Drill> {
  return act('POST', `${pathOf(name)}/drill`);
}

/** Drills of a channel, the newest first, a page of them. */
export function listDrills(
  name: string,
  page: { readonly limit: number; readonly offset: number },
  signal?: AbortSignal,
): Promise<Answer<DrillList>> {
  return get(`${pathOf(name)}/drills`, { ...page }, signal);
}

export function acknowledgeDrill(id: string, body: DrillAcknowledgement): Promise<AcknowledgedDrill> {
  return act('POST', `drills/${encodeURIComponent(id)}/acknowledge`, body);
}

export function listDeliveries(query: DeliveryQuery, signal?: AbortSignal): Promise<Answer<DeliveryPage>> {
  return get('deliveries', { ...query }, signal);
}

/** A parked or given-up delivery goes out again. */
export function redriveDelivery(id: string): Promise<RedriveResult> {
  return act('POST', `deliveries/${encodeURIComponent(id)}/redrive`);
}

function pathOf(name: string): string {
  return `channels/${encodeURIComponent(name)}`;
}
