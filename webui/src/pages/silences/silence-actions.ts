import type { Silence } from '@cronjob-monitor/shared/contract';
import { named } from '../../api/named.ts';
import { endSilence } from '../../api/silences.ts';
import { endingText, matcherText } from '../../format/silences.ts';
import { confirmation } from '../../kit/confirm/confirm.svelte.ts';
import { toasts } from '../../kit/toast/toasts.svelte.ts';
import { live } from '../../state/live.svelte.ts';
import { session, type Right } from '../../state/session.svelte.ts';

/** Whether the caller may silence in these namespaces; several, or none, are asked for as one. */
export function rightToSilence(namespaces: readonly string[]): Right {
  return session.right('silence', namespaces.length === 1 ? namespaces[0] : undefined);
}

/** Asks, and ends a silence before its time. */
export function askToEnd(silence: Silence): void {
  const { id } = silence;
  if (id === null) return; // of a dry run: there is nothing to end
  const what = matcherText(silence.matcher);
  confirmation.ask({
    title: 'End this silence now?',
    says: [what, endingText(silence)],
    note: 'It stays in the list of expired ones.',
    action: 'End now',
    run: async () => {
      await named('Could not end the silence', () => endSilence(id));
      toasts.say(`Ended: ${what}`, { tone: 'ok' });
      void live.reloadAll();
    },
  });
}
