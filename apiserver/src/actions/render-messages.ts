import type { RenderedMessage } from '@cronjob-monitor/shared/contract';
import { mapTexts, renderMessage, type Outgoing } from '@cronjob-monitor/shared/domain';
import { decodeChannelSpec, type Redaction } from '@cronjob-monitor/shared/kube';

/**
 * Messages as the channel with this spec would send them. Texts are redacted once more by the expressions in force now, since a message
 * may be older than they are. Null: the spec cannot be used, so nothing is sent.
 */
export async function renderMessages(
  { redaction }: { readonly redaction: Pick<Redaction, 'messages'> },
  spec: unknown,
  outgoing: readonly Outgoing[],
): Promise<readonly (RenderedMessage | null)[]> {
  const { spec: target } = decodeChannelSpec({ spec });
  if (!target) return outgoing.map(() => null);
  return Promise.all(
    outgoing.map(async (one) => {
      const message = await redacted(redaction, one.message);
      const heading = await redacted(redaction, one.heading);
      return renderMessage({ ...one, message, heading }, target);
    }),
  );
}

/** The same value with its texts redacted; names of fields stay. */
async function redacted<Value>(redaction: Pick<Redaction, 'messages'>, value: Value): Promise<Value> {
  const texts: string[] = [];
  mapTexts(value, (text) => {
    texts.push(text);
    return text;
  });
  const safe = await redaction.messages(texts);
  let index = 0;
  return mapTexts(value, () => safe[index++] ?? '') as Value; // the same shape: only texts differ
}
