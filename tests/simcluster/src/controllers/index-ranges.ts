/** Indexes of an Indexed Job as a status names them, such as `0,2-4`. */
export function printIndexes(indexes: Iterable<number>): string {
  const sorted = [...new Set(indexes)].toSorted((a, b) => a - b);
  const ranges: string[] = [];
  for (let start = 0; start < sorted.length;) {
    let end = start;
    while ((sorted[end + 1] ?? NaN) === (sorted[end] ?? 0) + 1) end++;
    const [first = 0, last = 0] = [sorted[start], sorted[end]];
    // Two in a row are listed one by one, from three on as a range.
    if (end === start) ranges.push(String(first));
    else if (end === start + 1) ranges.push(`${first},${last}`);
    else ranges.push(`${first}-${last}`);
    start = end + 1;
  }
  return ranges.join(',');
}

/** Reads such a text; indexes at or beyond `completions` are left out. */
export function readIndexes(text: string, completions = Infinity): Set<number> {
  const indexes = new Set<number>();
  for (const range of text.split(',')) {
    if (range === '') continue;
    const [from = '', to = from] = range.split('-');
    for (let index = Number(from); index <= Number(to) && index < completions; index++) indexes.add(index);
  }
  return indexes;
}
