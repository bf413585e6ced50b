/** Bodies and paths too large to be recorded, made from the words that describe them. */

/** Such as: a ConfigMap whose data.x is 3,200,000 times "y". */
export function bodyOfNote(note: string): string {
  const match = /^a ConfigMap whose (data\.x|annotation x) is ([\d,]+) times "(.+)"$/.exec(note);
  if (match === null) throw new Error(`no way to make ${note}`);
  const [, place, count = '', text = ''] = match;
  const value = text.repeat(Number(count.replaceAll(',', '')));
  const name = nameOf(note);
  const id = { apiVersion: 'v1', kind: 'ConfigMap' };
  return JSON.stringify(
    place === 'data.x'
      ? { ...id, metadata: { name }, data: { x: value } }
      : { ...id, metadata: { name, annotations: { x: value } } },
  );
}

/** The answers name the objects: one in a case is `a`, one with a large annotation `b`, the long ones take turns. */
let next = 0;
function nameOf(note: string): string {
  if (note.includes('annotation')) return 'b';
  return note.includes('8,000') ? `c${next++}` : 'a';
}

/** Such as: 18950 characters: labelSelector "a in (v0,...,v2499)". */
export function pathOfNote(path: string, note: string): string {
  const last = /v(\d+)\)"$/.exec(note)?.[1];
  if (last === undefined) throw new Error(`no way to make ${note}`);
  const values = Array.from({ length: Number(last) + 1 }, (_, index) => `v${index}`);
  return `${path.slice(0, path.indexOf('='))}=${encodeURIComponent(`a in (${values.join(',')})`)}`;
}
