import type { Alert, AlertType, Ref } from '@cronjob-monitor/shared/contract';
import { unacknowledgeAlert } from '../../api/alerts.ts';
import { named } from '../../api/named.ts';
import { confirmation } from '../../kit/confirm/confirm.svelte.ts';
import type { MenuItem } from '../../kit/menu/menu-item.ts';
import { toasts } from '../../kit/toast/toasts.svelte.ts';
import { addressOf } from '../../router.svelte.ts';
import { live } from '../../state/live.svelte.ts';
import { session } from '../../state/session.svelte.ts';

/** The alert whose acknowledgement is being written, drawn by AcknowledgeHost. */
class Acknowledging {
  alert = $state.raw<Alert | undefined>();
}
export const acknowledging = new Acknowledging();

export interface AlertAction {
  readonly word: string;
  readonly missing: string | undefined;
}

/** Takes note of an alert, or takes it back. */
export function acknowledgementOf(alert: Alert): AlertAction & { readonly run: () => void } {
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

/** The same as a line of a menu. */
export function silenceItem(cronjob: Ref, type?: AlertType): MenuItem {
  const { word, missing, href } = silenceOf(cronjob, type);
  return missing === undefined ? { word, href } : { word, missing };
}

/** The menu of an alert's row. */
export function alertMenu(alert: Alert): MenuItem[] {
  const { cronjob, monitor, context, id, type } = alert;
  const acknowledge = acknowledgementOf(alert);
  return [
    { word: 'Open', href: addressOf('alert', { id }) },
    { word: `CronJob ${cronjob.namespace}/${cronjob.name}`, href: addressOf('cronjob', { ...cronjob }) },
    ...(context.jobName === null
      ? []
      : [{ word: 'Open the run', href: addressOf('run', { ...cronjob, jobName: context.jobName }) }]),
    { word: `Monitor ${monitor.namespace}/${monitor.name}`, href: addressOf('monitor', { ...monitor }) },
    { ...acknowledge, isApart: true },
    silenceItem(cronjob, type),
  ];
}

function askTakeBack(alert: Alert): void {
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
