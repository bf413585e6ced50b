/** How often a fault is tried: once by default, more with FAULTS=ci, much more with FAULTS=soak (faults.md section 7). */
export function timesOf(counts: { readonly ci: number; readonly soak: number }): number {
  const wanted = process.env['FAULTS'];
  return wanted === 'soak' ? counts.soak : wanted === 'ci' ? counts.ci : 1;
}
