/** Who looks: the instant of the server's clock and the zone in which times are told. */
export interface Viewer {
  readonly nowMs: number;
  /** An IANA name. */
  readonly timeZone: string;
}
