import type { Authentication, Caller } from '../auth/authentication.ts';

/**
 * An answer as its caller may read it. The verdict of a failed run quotes a line of its log: it becomes null where the caller may not read
 * logs (`get pods/log`), whatever endpoint answers. An answer is shared by callers, so what differs is a copy.
 */
export async function withoutForeignLines(
  authentication: Pick<Authentication, 'may'>,
  caller: Caller,
  body: unknown,
): Promise<unknown> {
  const namespaces = new Set<string>();
  collect(body, '', namespaces);
  if (namespaces.size === 0 || (await authentication.may(caller, 'readLogs', {}))) return body;
  const places = [...namespaces].filter((namespace) => namespace !== '');
  const isReadable = await Promise.all(
    places.map((namespace) => authentication.may(caller, 'readLogs', { namespace })),
  );
  const readable = new Set(places.filter((_, index) => isReadable[index]));
  return readable.size === namespaces.size ? body : withheld(body, '', readable);
}

type Fields = Readonly<Record<string, unknown>>;

/** The field of a verdict. */
const line = 'logLine';

/** The namespaces of which a line of a log is quoted; empty text: one that the answer does not name. */
function collect(value: unknown, namespace: string, found: Set<string>): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[]) collect(item, namespace, found);
    return;
  }
  const fields = value as Fields;
  const place = namespaceOf(fields) ?? namespace;
  if (typeof fields[line] === 'object' && fields[line] !== null) found.add(place);
  for (const key in fields) collect(fields[key], place, found);
}

function withheld(value: unknown, namespace: string, readable: ReadonlySet<string>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => withheld(item, namespace, readable));
  const fields = value as Fields;
  const place = namespaceOf(fields) ?? namespace;
  return Object.fromEntries(
    Object.entries(fields).map(([key, field]) => [
      key,
      key === line && !readable.has(place) ? null : withheld(field, place, readable),
    ]),
  );
}

/** Of a CronJob or a run, or of the CronJob that an alert or a target is about. */
function namespaceOf(fields: Fields): string | undefined {
  const { namespace, cronjob } = fields;
  if (typeof cronjob === 'object' && cronjob !== null) return namespaceOf(cronjob as Fields);
  return typeof namespace === 'string' ? namespace : undefined;
}
