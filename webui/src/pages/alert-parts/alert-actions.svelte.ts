import type { Acknowledgement, Alert, AlertType, Ref } from '@cronjob-monitor/shared/contract';
import { named } from '../../api/named.ts';
import { createSilence, endSilence } from '../../api/silences.ts';
import { silenceChoices, silenceEnd, type SilenceChoice } from '../../format/ends.ts';
import { plural } from '../../format/figures.ts';
import type { MenuItem } from '../../kit/menu/menu-item.ts';
import { toasts } from '../../kit/toast/toasts.svelte.ts';
import { addressOf } from '../../router.svelte.ts';
import { clusters } from '../../state/clusters.svelte.ts';
import { live } from '../../state/live.svelte.ts';
import { preferences } from '../../state/preferences.svelte.ts';
import { selection } from '../../state/selection.svelte.ts';
import { session } from '../../state/session.svelte.ts';
import { after } from '../../state/timer.ts';
import { viewer } from '../../state/viewer.svelte.ts';
import { asking, matcherOf } from './asking.svelte.ts';

/** An alert as far as what is done with it needs it. */
type ActedOn = Pick<Alert, 'id' | 'cronjob' | 'endedAt'> & {
  readonly acknowledgement: Partial<Pick<Acknowledgement, 'note' | 'expiresAt'>> | null;
};

interface AlertAction {
  readonly word: string;
  readonly missing: string | undefined;
}

/** The hands that act on rows come with the first use. */
export async function hands(): Promise<typeof import('../list-parts/together.svelte.ts').together> {
  return (await import('../list-parts/together.svelte.ts')).together;
}

/** Takes note of an alert, or takes it back. */
export function acknowledgementOf(alert: ActedOn): AlertAction & { readonly run: () => Promise<void> } {
  const missing =
    alert.endedAt !== null ? 'It has ended' : session.right('acknowledge', alert.cronjob.namespace).missing;
  const { cronjob, acknowledgement, id } = alert;
  const ref = { ...cronjob, alertIds: [id] };
  if (!acknowledgement)
    return {
      word: 'Acknowledge',
      missing,
      run: async () => (await hands()).acknowledge([{ key: id, ref }]),
    };
  const { note, expiresAt } = acknowledgement;
  const again = { ...(note ? { note } : {}), ...(expiresAt ? { expiresAt } : {}) };
  return { word: 'Take back', missing, run: async () => (await hands()).takeBack(ref, again) };
}

/** Holds the alerts of a CronJob, of one kind or of all: a popover asks for how long. */
export function silenceOf(
  cronjob: Ref,
  type?: AlertType,
): AlertAction & { readonly run: (anchor: HTMLElement) => void } {
  const { namespace, name } = cronjob;
  const run = (anchor: HTMLElement): void =>
    asking.silence({
      anchor,
      name: `${namespace}/${name}`,
      matcher: { ...matcherOf([cronjob]), ...(type === undefined ? {} : { types: [type] }) },
      href: addressOf('silences', {}, { form: 'new', ns: namespace, cronjob: name, type }),
      run: (choice, comment) => void silenceUntil(cronjob, type, choice, comment),
    });
  return { word: 'Silence', missing: session.right('silence', namespace).missing, run };
}

/** The same in a menu: at once for a while, or with a comment and an end of one's own. */
export function silenceItems(cronjob: Ref, type?: AlertType): MenuItem[] {
  const { word, missing, run } = silenceOf(cronjob, type);
  if (missing !== undefined) return [{ word, missing, isApart: true }];
  const atOnce = silenceChoices(viewer).map(({ choice, words }, index) => ({
    word: `${word} ${words}`,
    run: () => void silenceUntil(cronjob, type, choice),
    isApart: index === 0,
  }));
  // The menu closes and gives its button the focus first.
  return [...atOnce, { word: `${word} with a comment`, run: (anchor) => void after(0, () => run(anchor)), key: 's' }];
}

/** Of a row in a list of which several can be chosen. */
export function chooseItems(key: string): MenuItem[] {
  if (selection.meantBy(key).length === 0) return [];
  const word = selection.has(key) ? 'Choose no longer' : 'Choose with others';
  return [{ word, run: () => void selection.toggle(key), isApart: true, key: 'x' }];
}

async function silenceUntil(
  { namespace, name }: Ref,
  type: AlertType | undefined,
  choice: SilenceChoice,
  comment = '',
): Promise<void> {
  const { asked, words } = silenceEnd(choice, viewer);
  const by = preferences.ownName.trim();
  const cluster = clusters.asked;
  try {
    const silence = await named(`Could not silence ${namespace}/${name}`, () =>
      createSilence({
        matcher: { namespaces: [namespace], cronjobs: [name], ...(type === undefined ? {} : { types: [type] }) },
        ...asked,
        ...(comment && { comment }),
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
  const acknowledge = acknowledgementOf(alert);
  return [
    { word: 'Open', href: addressOf('alert', { id }) },
    { word: `CronJob ${cronjob.namespace}/${cronjob.name}`, href: addressOf('cronjob', { ...cronjob }) },
    ...(jobName === null ? [] : [{ word: 'Open the run', href: addressOf('run', { ...cronjob, jobName }) }]),
    ...(monitor
      ? [{ word: `Monitor ${monitor.namespace}/${monitor.name}`, href: addressOf('monitor', { ...monitor }) }]
      : []),
    { ...acknowledge, run: () => void acknowledge.run(), isApart: true },
    ...silenceItems(cronjob, type),
  ];
}
