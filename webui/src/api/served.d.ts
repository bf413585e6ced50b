/**
 * Which parts of the API this version of the service answers. What is false is not asked for: its blocks are left out, its pages are not in
 * the rail. User interface and service are one version, so this is a fact and no guess; tests/e2e/ui compares it with the running service.
 */
export declare const served: {
  readonly alerts: true;
  readonly alert: true;
  readonly silences: true;
  readonly channels: true;
  readonly wall: true;
  readonly sla: true;
  readonly series: true;
  readonly slots: true;
  readonly stream: true;
  readonly trigger: true;
  readonly suspend: true;
  readonly export: true;
  readonly patterns: true;
  readonly preview: true;
};
export type Served = keyof typeof served;
/** Whether a part can be asked for. */
export declare function isServed(part: Served): boolean;
