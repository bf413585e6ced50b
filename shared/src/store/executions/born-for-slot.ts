/**
 * A Job is made once it is due, never before: its creation is below the instant it was due only by what two clocks of the cluster differ.
 * So the order of creation finds runs by their slot too, and executions need no index of slots.
 */
export const mostClockLeadMs = 3_600_000;
