/**
 * Which parts of the API this version of the service answers. What is false is not asked for: its blocks are left out, its pages are not in
 * the rail. User interface and service are one version, so this is a fact and no guess; tests/e2e/ui compares it with the running service.
 */
export const served = {
  alerts: true,
  alert: true,
  silences: true,
  channels: true,
  wall: true,
  sla: true,
  series: true,
  slots: true,
  stream: true,
  trigger: true,
  suspend: true,
  export: true,
  patterns: true,
  preview: true,
  coverage: true,
  advice: true,
  clusters: true,
} as const satisfies Record<string, boolean>;

export type Served = keyof typeof served;

/** Whether a part can be asked for. */
export function isServed(part: Served): boolean {
  return served[part];
}
