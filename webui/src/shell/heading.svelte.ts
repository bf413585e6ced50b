import criticalIcon from './icons/critical.svg';
import fineIcon from './icons/fine.svg';
import plainIcon from './icons/plain.svg';
import warningIcon from './icons/warning.svg';
import type { MenuItem } from '../kit/menu/menu-item.ts';
import { statesText, wrongStates } from '../format/verdict.ts';
import { session } from '../state/session.svelte.ts';

/** Title and icon of the tab: they follow the page, and the worst state of the fleet. */
class Heading {
  page = $state('CronJobs');
  /** What can be done on the page, for the menu in the bar of a phone. */
  items: readonly MenuItem[] = $state.raw([]);

  readonly title: string = $derived.by(() => {
    const states = session.stats.value?.states;
    if (!states) return this.page;
    const wrong = wrongStates.filter((state) => states[state] > 0);
    // What is critical stands alone: the rest can wait until it is seen.
    const told = statesText(states, wrong[0] === 'critical' ? ['critical'] : wrong);
    return told === '' ? this.page : `(${told}) ${this.page}`;
  });

  readonly icon: string = $derived.by(() => {
    const states = session.stats.value?.states;
    if (!states || session.stats.isStale) return plainIcon;
    if (states.critical > 0) return criticalIcon;
    if (states.warning > 0 || states.failing > 0) return warningIcon;
    return states.healthy > 0 ? fineIcon : plainIcon;
  });

  /** Keeps the document as it says. Returns what ends it. */
  follow(): () => void {
    return $effect.root(() => {
      $effect(() => {
        document.title = this.title;
      });
      $effect(() => {
        const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
        if (link && link.getAttribute('href') !== this.icon) link.href = this.icon;
      });
    });
  }
}

export const heading = new Heading();
