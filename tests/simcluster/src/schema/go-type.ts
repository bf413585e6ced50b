/**
 * Types of the Kubernetes API as Go knows them: what decides which fields exist, which of them an answer shows when they
 * are empty, what a decoding error says, and how a patch merges lists.
 */
export type GoType = StructType | ListType | MapType | ScalarType;

export interface StructType {
  readonly form: 'struct';
  readonly name: string;
  readonly fields: readonly GoField[];
  readonly byName: ReadonlyMap<string, GoField>;
}

interface ListType {
  readonly form: 'list';
  readonly item: GoType;
}

interface MapType {
  readonly form: 'map';
  readonly value: GoType;
}

/** Numbers, texts, and the types with a JSON form of their own. */
interface ScalarType {
  readonly form: 'scalar';
  readonly name: ScalarName;
}

const scalarNames = [
  'string',
  'bool',
  'int32',
  'int64',
  'float64',
  'Time',
  'MicroTime',
  'Quantity',
  'IntOrString',
  'bytes',
  'raw',
] as const;
export type ScalarName = (typeof scalarNames)[number];

export interface GoField {
  readonly name: string;
  readonly type: GoType;
  /** Null stands for absence; a zero value is kept. */
  readonly pointer: boolean;
  /** Left out of answers while empty. */
  readonly omitEmpty: boolean;
  /** The key by which strategic merge patch merges this list; undefined: the list is replaced. */
  readonly mergeKey: string | undefined;
  /** Keys of a list that is a map to server-side apply. */
  readonly mapKeys: readonly string[] | undefined;
  /** A list of texts that is a set: to apply always, to strategic merge when `mergeKey` is empty text. */
  readonly set: boolean;
  /** A map or struct that apply takes as one value. */
  readonly atomic: boolean;
}

/**
 * Reads type declarations. A line without indent names a struct; each line under it is a field:
 * `name[?] [*]type [merge=key] [keys=a,b] [set] [atomic]`. `?` is omitempty, `*` a pointer; a type is a scalar, `[]type`,
 * `map type` or the name of a struct. Later declarations may use structs of `known`.
 */
export function parseGoTypes(
  text: string,
  known: ReadonlyMap<string, StructType> = new Map(),
): Map<string, StructType> {
  const types = new Map(known);
  const blocks = readBlocks(text);
  for (const block of blocks) {
    types.set(block.name, { form: 'struct', name: block.name, fields: [], byName: new Map() });
  }
  for (const block of blocks) {
    const struct = types.get(block.name);
    if (struct === undefined) continue;
    for (const line of block.lines) {
      const field = readField(line, types);
      // Structs refer to each other, so each is made empty first and filled here, before anyone else sees it.
      (struct.fields as GoField[]).push(field);
      (struct.byName as Map<string, GoField>).set(field.name, field);
    }
  }
  return types;
}

function readBlocks(text: string): { name: string; lines: string[] }[] {
  const blocks: { name: string; lines: string[] }[] = [];
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    if (line.startsWith(' ')) blocks.at(-1)?.lines.push(line.trim());
    else blocks.push({ name: line.trim(), lines: [] });
  }
  return blocks;
}

function readField(line: string, types: ReadonlyMap<string, StructType>): GoField {
  const [rawName = '', ...rest] = line.split(/ +/);
  const words = rest.filter((word) => !/^(merge|keys)=|^(set|atomic)$/.test(word));
  const option = (name: string): string | undefined =>
    rest.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1);
  const typeText = words.join(' ');
  const pointer = typeText.startsWith('*');
  return {
    name: rawName.replace(/\?$/, ''),
    type: readType(pointer ? typeText.slice(1) : typeText, types),
    pointer,
    omitEmpty: rawName.endsWith('?'),
    mergeKey: option('merge'),
    mapKeys: (option('keys') ?? option('merge'))?.split(',').filter((key) => key !== ''),
    set: rest.includes('set'),
    atomic: rest.includes('atomic'),
  };
}

function readType(text: string, types: ReadonlyMap<string, StructType>): GoType {
  if (text.startsWith('[]')) return { form: 'list', item: readType(text.slice(2), types) };
  if (text.startsWith('map ')) return { form: 'map', value: readType(text.slice(4), types) };
  const scalar = scalarNames.find((name) => name === text);
  if (scalar !== undefined) return { form: 'scalar', name: scalar };
  const struct = types.get(text);
  if (struct === undefined) throw new Error(`unknown type ${text}`);
  return struct;
}

/** The type as Go writes it in a decoding error. */
export function goName(type: GoType): string {
  switch (type.form) {
    case 'struct':
      return `v1.${type.name}`;
    case 'list':
      return `[]${goName(type.item)}`;
    case 'map':
      return `map[string]${goName(type.value)}`;
    default:
      return scalarGoName(type.name);
  }
}

function scalarGoName(name: ScalarName): string {
  if (name === 'Time' || name === 'MicroTime') return 'string';
  if (name === 'bytes') return '[]uint8';
  if (name === 'Quantity') return 'resource.Quantity';
  return name === 'IntOrString' ? 'int32' : name;
}
