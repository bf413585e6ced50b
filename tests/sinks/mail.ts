/** A mail taken apart. */
export interface Mail {
  /** By name in lower case; repeated ones in order. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  /** Value of the first header of this name, decoded. */
  header(name: string): string | undefined;
  readonly text: string | undefined;
  readonly html: string | undefined;
  /** Content types of its parts in their order; of itself when it has none. */
  readonly parts: readonly string[];
}

/** Reads a mail as clients do: headers, parts, transfer encodings, encoded words. */
export function parseMail(raw: string): Mail {
  const { headers, body } = split(raw);
  const header = (name: string): string | undefined => {
    const value = headers.get(name.toLowerCase())?.[0];
    return value === undefined ? undefined : decodeWords(value);
  };
  const leaves = leavesOf(headers, body);
  const textOf = (type: string): string | undefined => leaves.find((leaf) => leaf.type === type)?.text;
  return {
    headers,
    header,
    text: textOf('text/plain'),
    html: textOf('text/html'),
    parts: leaves.map(({ type }) => type),
  };
}

type Headers = ReadonlyMap<string, readonly string[]>;

function split(raw: string): { headers: Headers; body: string } {
  const end = raw.indexOf('\r\n\r\n');
  const head = end < 0 ? raw : raw.slice(0, end);
  const headers = new Map<string, string[]>();
  for (const line of head.replace(/\r\n[ \t]+/g, ' ').split('\r\n')) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    headers.set(name, [...(headers.get(name) ?? []), line.slice(colon + 1).trim()]);
  }
  return { headers, body: end < 0 ? '' : raw.slice(end + 4) };
}

function leavesOf(headers: Headers, body: string): { type: string; text: string }[] {
  const contentType = headers.get('content-type')?.[0] ?? 'text/plain';
  const type = (contentType.split(';')[0] ?? '').trim().toLowerCase();
  const boundary = /boundary="?([^";]+)"?/i.exec(contentType)?.[1];
  if (!type.startsWith('multipart/') || boundary === undefined) {
    return [{ type, text: decode(body, headers.get('content-transfer-encoding')?.[0] ?? '7bit') }];
  }
  const pieces = `\r\n${body}`.split(`\r\n--${boundary}`).slice(1, -1);
  return pieces.flatMap((piece) => {
    const part = split(piece.replace(/^\r\n/, ''));
    return leavesOf(part.headers, part.body);
  });
}

function decode(body: string, encoding: string): string {
  const kind = encoding.toLowerCase();
  if (kind === 'base64') return Buffer.from(body, 'base64').toString('utf8');
  return kind === 'quoted-printable' ? decodeQuoted(body.replace(/=\r\n/g, '')) : body;
}

function decodeQuoted(text: string): string {
  const bytes = text.replace(/=([0-9A-Fa-f]{2})/g, (_match, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** `=?UTF-8?Q?…?=` and `=?UTF-8?B?…?=` */
function decodeWords(value: string): string {
  return value
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?utf-8\?([qb])\?([^?]*)\?=/gi, (_match, kind: string, text: string) =>
      kind.toLowerCase() === 'b'
        ? Buffer.from(text, 'base64').toString('utf8')
        : decodeQuoted(text.replaceAll('_', ' ')),
    );
}
