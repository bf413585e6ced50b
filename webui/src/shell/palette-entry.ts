import type { Mark } from '../kit/icon/shapes.ts';

/** One line of the palette: something to go to, or to do. */
export interface PaletteEntry {
  readonly id: string;
  readonly name: string;
  readonly group: string;
  readonly href?: string;
  readonly run?: () => void;
  /** Its state, in words at the end of the line. */
  readonly mark?: Mark | undefined;
  /** Quieter, at the end of the line. */
  readonly note?: string;
  /** What Enter does with it; a place is opened. */
  readonly does?: string;
}

/** How well a name answers what is typed: 0 not at all; a name that begins with it, or a part of it that does, goes first. */
export function scoreOf(name: string, typed: string): number {
  const text = name.toLowerCase();
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return 1;
  let score = 1;
  for (const word of words) {
    const at = text.indexOf(word);
    if (at < 0) return 0;
    const isStart = at === 0 || /[^a-z0-9]/.test(text.charAt(at - 1));
    score += isStart ? 3 : 1;
    if (at === 0) score += 1;
  }
  return score + 1 / (1 + text.length);
}

/** The best of each group, in the order in which the groups come. */
export function bestOf(entries: readonly PaletteEntry[], typed: string, mostEach: number): PaletteEntry[] {
  const groups = Map.groupBy(entries, ({ group }) => group);
  return [...groups.values()].flatMap((group) =>
    group
      .map((entry) => ({ entry, score: scoreOf(entry.name, typed) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, mostEach)
      .map(({ entry }) => entry),
  );
}

/** What fits exactly, what is broken, what was chosen lately, and the rest; a group stands where its best line does. */
export function inOrder(entries: readonly PaletteEntry[], typed: string, recent: readonly string[]): PaletteEntry[] {
  const wanted = typed.toLowerCase();
  const rankOf = ({ id, name, mark }: PaletteEntry): number => {
    const text = name.toLowerCase();
    if (wanted !== '' && (text === wanted || text.endsWith(`/${wanted}`))) return 0;
    if (mark?.tone === 'crit' || mark?.tone === 'warn') return 1;
    return recent.includes(id) ? 2 : 3;
  };
  const groups = [...Map.groupBy(entries, ({ group }) => group).values()];
  const ranked = groups.map((group) => group.map((entry) => ({ entry, rank: rankOf(entry) })).sort(byRank));
  return ranked.sort(([a], [b]) => byRank(a, b)).flatMap((group) => group.map(({ entry }) => entry));
}

interface Ranked {
  readonly rank: number;
}

function byRank(a: Ranked | undefined, b: Ranked | undefined): number {
  return (a?.rank ?? 0) - (b?.rank ?? 0);
}
