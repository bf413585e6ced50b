import { redriveDelivery } from '../../api/channels.ts';
import { named } from '../../api/named.ts';
import { plural } from '../../format/figures.ts';
import { toasts } from '../../kit/toast/toasts.svelte.ts';
import { live } from '../../state/live.svelte.ts';

/** Puts parked or given-up deliveries of a channel into the queue again, one after the other; says what came of it. */
export async function sendAgain(ids: readonly string[], channel: string): Promise<void> {
  let queued = 0;
  try {
    for (const id of ids) {
      const { changed } = await named(`Could not send it again to ${channel}`, () => redriveDelivery(id));
      if (changed) queued++;
    }
    toasts.say(
      queued === 0 ? `${channel}: it was queued already` : `${channel}: ${plural(queued, 'message')} queued again`,
      {
        tone: 'ok',
      },
    );
  } catch (error) {
    const done = queued > 0 ? ` (${plural(queued, 'message')} queued before that)` : '';
    toasts.say(`${error instanceof Error ? error.message : 'No answer'}${done}`, { tone: 'crit' });
  }
  void live.reloadAll();
}
