import type { BulkAction, BulkBody, BulkRef, BulkRow } from '@cronjob-monitor/shared/contract';
import { actOnMany } from '../../api/alerts.ts';
import type { Query } from '../../api/client.ts';
import { exportList, type ExportedList } from '../../api/exports.ts';
import { named } from '../../api/named.ts';
import { silenceEnd, type SilenceChoice } from '../../format/ends.ts';
import { plural } from '../../format/figures.ts';
import type { MenuItem } from '../../kit/menu/menu-item.ts';
import { saveFile } from '../../kit/save-file/save-file.ts';
import { toasts } from '../../kit/toast/toasts.svelte.ts';
import { clusters } from '../../state/clusters.svelte.ts';
import { live } from '../../state/live.svelte.ts';
import { preferences } from '../../state/preferences.svelte.ts';
import { selection, type Choosable } from '../../state/selection.svelte.ts';
import { session } from '../../state/session.svelte.ts';
import { viewer } from '../../state/viewer.svelte.ts';
import { asking, matcherOf } from '../alert-parts/asking.svelte.ts';

/** What takes an action back. */
const opposites = {
  acknowledge: 'unacknowledge',
  silence: 'endSilence',
  suspend: 'resume',
} as const satisfies Partial<Record<BulkAction, BulkAction>>;

const doneWords = { acknowledge: 'Acknowledged', silence: 'Silenced', suspend: 'Suspended' } as const;

/** A row, or single alerts of it. */
type Acted = Pick<Choosable, 'key'> & { readonly ref: BulkRef };

/** What is done to the rows that are chosen, with one request and a result for each. */
class Together {
  /** The last action left these as they were: why, row by row. */
  left = $state.raw<readonly BulkRow[]>([]);
  isBusy = $state(false);

  acknowledge(rows: readonly Acted[], body: Pick<BulkBody, 'note' | 'expiresAt'> = {}): Promise<void> {
    return this.#perform('acknowledge', rows, body);
  }

  /** Of one alert; what it said can be said again. */
  async takeBack(ref: BulkRef, again: Pick<BulkBody, 'note' | 'expiresAt'>): Promise<void> {
    const row = {
      ...ref,
      alertIds: ref.alertIds ?? [],
      silenceIds: [],
      outcome: 'done',
      words: '',
      code: null,
    } as const;
    const undo = { word: 'Undo', run: () => void this.acknowledge([{ key: '', ref }], again) };
    await this.#takeBack('unacknowledge', [row], clusters.offerIn(clusters.asked, { action: undo }));
  }

  /** A popover asks for how long. */
  askSilence(rows: readonly Acted[], anchor: EventTarget | null): void {
    const refs = rows.map(({ ref }) => ref);
    if (!(anchor instanceof HTMLElement)) return;
    const run = (choice: SilenceChoice, comment: string): void => void this.#silence(rows, choice, comment);
    asking.silence({ anchor, name: namesOf(refs), matcher: matcherOf(refs), run });
  }

  #silence(rows: readonly Acted[], choice: SilenceChoice, comment: string): Promise<void> {
    return this.#perform('silence', rows, { ...silenceEnd(choice, viewer).asked, ...(comment && { comment }) });
  }

  suspend(rows: readonly Choosable[]): Promise<void> {
    return this.#perform('suspend', rows, {});
  }

  close(): void {
    this.left = [];
  }

  async #perform(action: keyof typeof opposites, rows: readonly Acted[], body: BulkBody): Promise<void> {
    if (this.isBusy || rows.length === 0) return;
    this.isBusy = true;
    const cluster = clusters.asked;
    const by = preferences.ownName.trim();
    const author = by === '' || session.whoami.value?.mode !== 'none' ? {} : { by };
    const refs = rows.map(({ ref }) => ref);
    try {
      const result = await named(`Could not ${action} ${namesOf(refs)}`, () =>
        actOnMany({ action, refs, body: { ...body, ...author } }),
      );
      const done = result.rows.filter(({ outcome }) => outcome === 'done');
      this.left = result.rows.filter(({ outcome }) => outcome !== 'done');
      const left = new Set(this.left.map(({ namespace, name }) => `${namespace}/${name}`));
      selection.keep(rows.flatMap(({ key, ref }) => (left.has(`${ref.namespace}/${ref.name}`) ? [key] : [])));
      if (done.length > 0) {
        const said = `${doneWords[action]} ${namesOf(done)}`;
        const undo = { word: 'Undo', run: () => void this.#takeBack(opposites[action], done) };
        const alertIds = done.flatMap((row) => row.alertIds);
        const note = { word: 'Note', run: () => asking.note({ alertIds, name: namesOf(done) }) };
        toasts.say(this.left.length > 0 ? `${said}; ${this.left.length} left as they were` : said, {
          tone: 'ok',
          ...clusters.offerIn(cluster, { action: undo, ...(action === 'acknowledge' ? { also: note } : {}) }),
        });
      } else if (rows.length === 1) toasts.say(`${namesOf(refs)}: ${this.left[0]?.words ?? 'nothing was done'}`);
      if (rows.length === 1) this.left = [];
      void live.reloadAll();
    } catch (error) {
      tellFailure(error);
    } finally {
      this.isBusy = false;
    }
  }

  async #takeBack(action: BulkAction, done: readonly BulkRow[], offers = {}): Promise<void> {
    const refs = done.map(({ namespace, name, alertIds, silenceIds }) => ({
      namespace,
      name,
      ...(alertIds.length > 0 ? { alertIds } : {}),
      ...(silenceIds.length > 0 ? { silenceIds } : {}),
    }));
    try {
      const { rows } = await named(`Could not undo it for ${namesOf(refs)}`, () => actOnMany({ action, refs }));
      const refused = rows.filter(({ outcome }) => outcome === 'refused');
      if (refused[0]) toasts.say(`Not taken back for ${namesOf(refused)}: ${refused[0].words}`, { tone: 'crit' });
      else toasts.say(`Taken back for ${namesOf(refs)}`, { tone: 'ok', ...offers });
      void live.reloadAll();
    } catch (error) {
      tellFailure(error);
    }
  }
}

export const together = new Together();

/** Lines of a menu that save rows of a list as a file: all that the filters of the view leave, and not its page alone. */
export function exportItems(
  list: ExportedList,
  query: Query,
  { what, rows = 'All rows', missing }: { what: string; rows?: string; missing?: string | undefined },
): MenuItem[] {
  async function save(format: 'csv' | 'json'): Promise<void> {
    try {
      const file = await named(`Could not export ${what}`, () => exportList(list, query, format));
      saveFile(file);
      toasts.say(`Saved ${file.name}`, { tone: 'ok' });
    } catch (error) {
      tellFailure(error);
    }
  }
  return (['csv', 'json'] as const).map((format) => ({
    word: `${rows} as ${format.toUpperCase()}`,
    missing,
    run: () => void save(format),
  }));
}

/** One by its name, more by their number. */
function namesOf(refs: readonly BulkRef[]): string {
  const [first] = refs;
  return first && refs.length === 1 ? `${first.namespace}/${first.name}` : plural(refs.length, 'row');
}

function tellFailure(error: unknown): void {
  toasts.say(error instanceof Error ? error.message : 'It could not be done', { tone: 'crit' });
}
