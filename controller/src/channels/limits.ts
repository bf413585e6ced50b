/** Limits of every attempt: alerting.md section 5. */
export const connectLimitMs = 5_000;
export const sendLimitMs = 15_000;
