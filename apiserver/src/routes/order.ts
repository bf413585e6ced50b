/** What an item is ordered by; null: not known. */
type Rank = string | number | null;

/** In the order asked for, what is not known last both ways; items that are equal in it by their ties, the first that differs. */
export function orderBy<Key extends string, Item>(
  keys: Readonly<Record<Key, (item: Item) => Rank>>,
  { key, descending }: { readonly key: Key; readonly descending: boolean },
  tiesOf: (item: Item) => readonly (string | number)[],
): (a: Item, b: Item) => number {
  return (a, b) => {
    const [left, right] = [keys[key](a), keys[key](b)];
    if (left === null || right === null) {
      if (left !== right) return left === null ? 1 : -1;
    } else if (left !== right) return left < right === descending ? 1 : -1;
    const others = tiesOf(b);
    for (const [at, tie] of tiesOf(a).entries()) if (tie !== others[at]) return tie < (others[at] ?? '') ? -1 : 1;
    return 0;
  };
}
