/** One entry of an Accept or Content-Type header. */
interface MediaType {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
}

/** Reads a header of media types, the most wanted first. An empty header gives none. */
export function readMediaTypes(header: string): MediaType[] {
  return header
    .split(',')
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .map(readMediaType)
    .filter((media) => media.quality > 0)
    .toSorted((a, b) => b.quality - a.quality);
}

export function readMediaType(text: string): MediaType {
  const [type = '', ...rest] = text.split(';').map((part) => part.trim());
  const parameters = new Map(
    rest.map((part): [string, string] => {
      const [key = '', value = ''] = part.split('=');
      return [key.trim().toLowerCase(), value.trim()];
    }),
  );
  return { type: type.toLowerCase(), parameters, quality: Number(parameters.get('q') ?? 1) };
}
