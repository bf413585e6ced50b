/** One metric with its series, as a scrape shows it. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly values: readonly Sample[];
}

export interface Sample {
  readonly labels: Readonly<Record<string, string | number | undefined>>;
  readonly value: number;
  /** Where it differs from the name of the family: `x_sum`, `x_bucket`. */
  readonly metricName?: string | undefined;
}

/** A family of one series without labels; without a value, of none. */
export function single(type: 'gauge' | 'counter', name: string, help: string, value: number | undefined): Family {
  return { name, help, type, values: value === undefined ? [] : [{ labels: {}, value }] };
}
