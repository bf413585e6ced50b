import type { Alert, AlertType, Ref } from '@cronjob-monitor/shared/contract';
import { unacknowledgeAlert } from '../../api/alerts.ts';
import { named } from '../../api/named.ts';
import { createSilence, endSilence } from '../../api/silences.ts';
import { silenceChoices, silenceEnd, type SilenceChoice } from '../../format/ends.ts';
import { plural } from '../../format/figures.ts';
import { confirmation } from '../../kit/confirm/confirm.svelte.ts';
import type { MenuItem } from '../../kit/menu/menu-item.ts';
import { toasts } from '../../kit/toast/toasts.svelte.ts';
import { addressOf } from '../../router.svelte.ts';
import { clusters } from '../../state/clusters.svelte.ts';
import { live } from '../../state/live.svelte.ts';
import { preferences } from '../../state/preferences.svelte.ts';
import { selection } from '../../state/selection.svelte.ts';
import { session } from '../../state/session.svelte.ts';
import { viewer } from '../../state/viewer.svelte.ts';

/** An alert as far as what is done with it needs it. */
type ActedOn = Pick<Alert, 'id' | 'cronjob' | 'endedAt'> & { readonly acknowledgement: object | null };

/** The alert whose acknowledgement is being written, in a dialog above the page. */
class Acknowledging {
  alert = $state.raw<Pick<Alert, 'id' | 'cronjob'> | undefined>();
}
export const acknowledging = new Acknowledging();

interface AlertAction {
  readonly word: string;
  readonly missing: string | undefined;
}

/** Takes note of an alert, or takes it back. */
export function acknowledgementOf(alert: ActedOn): AlertAction & { readonly run: () => void } {
  const missing =
    alert.endedAt !== null ? 'It has ended' : session.right('acknowledge', alert.cronjob.namespace).missing;
  return alert.acknowledgement
    ? { word: 'Take back', missing, run: () => askTakeBack(alert) }
    : { word: 'Acknowledge', missing, run: () => (acknowledging.alert = alert) };
}

/** To the form of a new silence that holds the alerts of a CronJob, of one kind or of all. */
export function silenceOf(cronjob: Ref, type?: AlertType): AlertAction & { readonly href: string } {
  const { namespace, name } = cronjob;
  return {
    word: 'Silence',
    missing: session.right('silence', namespace).missing,
    href: addressOf('silences', {}, { form: 'new', ns: namespace, cronjob: name, type }),
  };
}

/** The same in a menu: at once for a while, or by the form with a comment and an end of one's own. */
export function silenceItems(cronjob: Ref, type?: AlertType): MenuItem[] {
  const { word, missing, href } = silenceOf(cronjob, type);
  if (missing !== undefined) return [{ word, missing, isApart: true }];
  const atOnce = silenceChoices.map(({ choice, words }, index) => ({
    word: `${word} ${words}`,
    run: () => void silenceUntil(cronjob, type, choice),
    isApart: index === 0,
  }));
  return [...atOnce, { word: `${word} otherwise`, href }];
}

/** Of a row in a list of which several can be chosen. */
export function chooseItems(key: string): MenuItem[] {
  if (!selection.find(key)) return [];
  const word = selection.has(key) ? 'Choose no longer' : 'Choose with others';
  return [{ word, run: () => void selection.toggle(key), isApart: true }];
}

async function silenceUntil(
  { namespace, name }: Ref,
  type: AlertType | undefined,
  choice: SilenceChoice,
): Promise<void> {
  const { asked, words } = silenceEnd(choice, viewer);
  const by = preferences.ownName.trim();
  const cluster = clusters.asked;
  try {
    const silence = await named(`Could not silence ${namespace}/${name}`, () =>
      createSilence({
        matcher: { namespaces: [namespace], cronjobs: [name], ...(type === undefined ? {} : { types: [type] }) },
        ...asked,
        ...(by === '' || session.whoami.value?.mode !== 'none' ? {} : { by }),
      }),
    );
    const undo = { word: 'Undo', run: () => void takeBackSilence(silence.id, `${namespace}/${name}`) };
    toasts.say(`Silenced ${namespace}/${name} ${words}: ${plural(silence.mutedNow, 'alert')} held`, {
      tone: 'ok',
      ...clusters.offerIn(cluster, { action: undo }),
    });
    void live.reloadAll();
  } catch (error) {
    toasts.say(error instanceof Error ? error.message : 'It could not be done', { tone: 'crit' });
  }
}

async function takeBackSilence(id: string | null, name: string): Promise<void> {
  if (id === null) return;
  try {
    await named(`Could not end the silence of ${name}`, () => endSilence(id));
    toasts.say(`${name} is told of again`, { tone: 'ok' });
    void live.reloadAll();
  } catch (error) {
    toasts.say(error instanceof Error ? error.message : 'It could not be done', { tone: 'crit' });
  }
}

/** The menu of an alert in a list; where it leads to its run and its monitor the list knows them. */
export function alertMenu(
  alert: ActedOn & Pick<Alert, 'type'> & Partial<Pick<Alert, 'monitor' | 'context'>>,
): MenuItem[] {
  const { cronjob, monitor, context, id, type } = alert;
  const jobName = context?.jobName ?? null;
  return [
    { word: 'Open', href: addressOf('alert', { id }) },
    { word: `CronJob ${cronjob.namespace}/${cronjob.name}`, href: addressOf('cronjob', { ...cronjob }) },
    ...(jobName === null ? [] : [{ word: 'Open the run', href: addressOf('run', { ...cronjob, jobName }) }]),
    ...(monitor
      ? [{ word: `Monitor ${monitor.namespace}/${monitor.name}`, href: addressOf('monitor', { ...monitor }) }]
      : []),
    { ...acknowledgementOf(alert), isApart: true },
    ...silenceItems(cronjob, type),
  ];
}

function askTakeBack(alert: ActedOn): void {
  const { namespace, name } = alert.cronjob;
  confirmation.ask({
    title: `Take back the acknowledgement of ${namespace}/${name}?`,
    says: ['Reminders go on as its monitor sets them.'],
    action: 'Take back',
    run: async () => {
      await named(`Could not take back the acknowledgement of ${namespace}/${name}`, () =>
        unacknowledgeAlert(alert.id),
      );
      toasts.say(`The acknowledgement of ${namespace}/${name} is taken back`, { tone: 'ok' });
      void live.reloadAll();
    },
  });
}
