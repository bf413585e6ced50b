import type { AlertTimelineEntry, AlertTimelineKind } from '@cronjob-monitor/shared/contract';
import { closeCauseInWords } from '@cronjob-monitor/shared/domain';
import type { StoredDecision } from '@cronjob-monitor/shared/store';
import { orNull, toWireInstant } from '../../wire-values.ts';

type Wording = (decision: StoredDecision, channel: string) => string;

const because = ({ reason }: StoredDecision): string => (reason === undefined ? '' : `: ${reason}`);
const until = ({ untilAt }: StoredDecision): string =>
  untilAt === undefined ? '' : `, until ${toWireInstant(untilAt)}`;
const quoted = ({ detail }: StoredDecision): string => (detail === undefined ? '' : `: ${detail}`);

/** One sentence for each kind of decision; what is said besides stands in the fields of the entry. */
const wordings: Readonly<Record<AlertTimelineKind, Wording>> = {
  detected: ({ detail }) => detail ?? 'It was noticed',
  pending: (decision) => `No channel is told yet${because(decision)}${until(decision)}`,
  activated: () => 'It became active',
  suppressed: (decision) => `Held back${because(decision)}${until(decision)}`,
  released: (decision) => `Held back no more${because(decision)}`,
  occurrence: (decision) => `It happened again${because(decision)}`,
  severityChanged: (decision) => `The severity changed${because(decision)}`,
  held: (decision) => `No message${because(decision)}${until(decision)}`,
  queued: ({ reason }, channel) => `A message to ${channel} was made${reason === undefined ? '' : `: ${reason}`}`,
  notRouted: (decision) => {
    const { reason, detail = '' } = decision;
    if (reason === 'unknownChannel') return `No channel is named ${detail}`.trimEnd();
    if (reason === 'channelNotAllowed') return `The channel ${detail} does not admit the namespace`;
    if (reason === 'instead') return `Told to ${detail} alone`;
    return `No message is wanted${because(decision)}`;
  },
  collapsed: (_decision, channel) => `${channel} hears of it by another message`,
  rateLimited: (decision, channel) => `${channel} waits for its rate limit${until(decision)}`,
  digested: (_decision, channel) => `${channel} hears of it in a digest`,
  attemptFailed: (decision, channel) => `${channel} did not take it${quoted(decision)}`,
  parked: (decision, channel) => `${channel} must be mended before it is sent${because(decision)}`,
  dead: (decision, channel) => `Given up for ${channel}${because(decision)}`,
  redriven: (_decision, channel) => `Queued again for ${channel}`,
  sent: (_decision, channel) => `Sent to ${channel}`,
  acknowledged: (decision) => `Acknowledged${quoted(decision)}`,
  unacknowledged: (decision) => `The acknowledgement ended${because(decision)}`,
  mutedThere: ({ detail }, channel) => `${channel} keeps it from people: ${detail ?? 'it is muted there'}`,
  unmutedThere: (_decision, channel) => `${channel} keeps it from people no more`,
  resolved: (decision) => `Resolved${quoted(decision)}`,
  expired: ({ reason }) => `Closed${reason === undefined ? '' : `: ${closeCauseInWords(reason)}`}`,
  cancelled: (decision) => `Nothing is sent${because(decision)}`,
};

/** The ledger of an alert, oldest first: why it was told, or was not. */
export function presentTimeline(
  decisions: readonly StoredDecision[],
  channelNames: ReadonlyMap<string, string>,
): AlertTimelineEntry[] {
  return decisions.map((decision) => {
    const channel = decision.channelUid === undefined ? undefined : channelNames.get(decision.channelUid);
    const says = wordings[decision.action](decision, channel ?? 'the channel');
    const repeats = decision.times > 1 ? ` (${decision.times} times, last ${toWireInstant(decision.lastAt)})` : '';
    return {
      at: toWireInstant(decision.at),
      kind: decision.action,
      reason: orNull(decision.reason),
      channel: orNull(channel),
      deliveryId: orNull(decision.deliveryId),
      by: orNull(decision.byWhom),
      message: says + repeats,
    };
  });
}
