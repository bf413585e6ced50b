/** Which namespaces a caller may look into with one ability. Lists are cut to it before they are asked for. */
export interface Reach {
  /** Everywhere: nothing has to be left out. */
  readonly isWhole: boolean;
  readonly isNowhere: boolean;
  includes(namespace: string): boolean;
  /**
   * The namespaces to look into when these are asked for, none meaning all. The result reads the same: it is empty only where
   * everything may be looked at, and holds a name that nothing has where nothing may.
   */
  within(asked: readonly string[]): readonly string[];
}

/** No namespace has this name: a filter by it finds nothing. */
const nowhere = '';

export const everywhere: Reach = { isWhole: true, isNowhere: false, includes: () => true, within: (asked) => asked };

export function reachOf(permitted: Iterable<string>): Reach {
  const names = new Set(permitted);
  return {
    isWhole: false,
    isNowhere: names.size === 0,
    includes: (namespace) => names.has(namespace),
    within(asked) {
      const kept = asked.length === 0 ? [...names] : asked.filter((namespace) => names.has(namespace));
      return kept.length === 0 ? [nowhere] : kept;
    },
  };
}
