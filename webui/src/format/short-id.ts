/** The end of an id, enough to tell two alerts apart aloud; messages carry the same. */
export function shortId(id: string): string {
  return id.replaceAll('-', '').slice(-8);
}
