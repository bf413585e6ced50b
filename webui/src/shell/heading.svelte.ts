import criticalIcon from './icons/critical.svg';
import fineIcon from './icons/fine.svg';
import plainIcon from './icons/plain.svg';
import warningIcon from './icons/warning.svg';
import { brokenText } from '../format/health.ts';
import { session } from '../state/session.svelte.ts';

/** Title and icon of the tab: they follow the page, and the worst state of the fleet. */
class Heading {
  page = $state('CronJobs');

  readonly title: string = $derived.by(() => {
    const summary = session.stats.value?.summary;
    if (!summary) return this.page;
    const worst = summary.critical > 0 ? { critical: summary.critical, warning: 0 } : summary;
    const broken = brokenText(worst);
    return broken === '' ? this.page : `(${broken}) ${this.page}`;
  });

  readonly icon: string = $derived.by(() => {
    const summary = session.stats.value?.summary;
    if (!summary || session.stats.isStale) return plainIcon;
    if (summary.critical > 0) return criticalIcon;
    return summary.warning > 0 ? warningIcon : fineIcon;
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
