/** A selector of Kubernetes objects by label: everything given must hold. https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/ */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
  readonly matchExpressions?: readonly LabelExpression[] | undefined;
}

export const labelOperators = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const;

export interface LabelExpression {
  readonly key: string;
  readonly operator: (typeof labelOperators)[number];
  readonly values?: readonly string[] | undefined;
}

/**
 * Whether the labels satisfy the selector, as the API server would say. An empty selector selects everything. `NotIn` holds for an
 * absent label too. An operator that does not exist holds for nothing: it must never select more than was meant.
 */
export function matchesLabels(selector: LabelSelector, labels: Readonly<Record<string, string>>): boolean {
  const valueOf = (key: string): string | undefined => (Object.hasOwn(labels, key) ? labels[key] : undefined);
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) {
    if (valueOf(key) !== value) return false;
  }
  return (selector.matchExpressions ?? []).every(({ key, operator, values = [] }) => {
    const value = valueOf(key);
    switch (operator) {
      case 'In':
        return value !== undefined && values.includes(value);
      case 'NotIn':
        return value === undefined || !values.includes(value);
      case 'Exists':
        return value !== undefined;
      case 'DoesNotExist':
        return value === undefined;
      default:
        return false;
    }
  });
}
