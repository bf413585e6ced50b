import type { CustomSchema } from '../custom/custom-schema.ts';
import type { Kind } from '../kinds/kind.ts';
import type { GoField, GoType } from '../schema/go-type.ts';
import { metaTypes } from '../schema/meta-types.ts';

/** How a value merges in server-side apply. Maps merge by key unless they are atomic; lists as `list` says. */
export interface Shape {
  /** One value, whatever it holds. */
  readonly atomic: boolean;
  readonly list: 'atomic' | 'set' | 'map';
  /** The fields that tell the items of a list of form `map` apart. */
  readonly keys: readonly string[];
  /** The shape of a field; undefined: there is no such field. */
  child(key: string): Shape | undefined;
  /** The shape of the items of a list. */
  items(): Shape;
}

/** What is known of nothing: objects merge, everything else is one value. */
const deduced: Shape = { atomic: false, list: 'atomic', keys: [], child: () => deduced, items: () => deduced };
const leaf: Shape = { ...deduced, atomic: true };

export function shapeOf(kind: Kind): Shape {
  if (kind.custom === undefined) return kind.traits.type === undefined ? deduced : goShape(kind.traits.type);
  const root = customShape(kind.custom.schema);
  const metadata = metaTypes.get('ObjectMeta');
  const own: Record<string, Shape> = {
    apiVersion: leaf,
    kind: leaf,
    metadata: metadata === undefined ? deduced : goShape(metadata),
  };
  return { ...root, child: (key) => own[key] ?? root.child(key) };
}

function goShape(type: GoType, field?: GoField): Shape {
  switch (type.form) {
    case 'struct':
      return {
        ...deduced,
        atomic: field?.atomic ?? false,
        child(key) {
          const inner = type.byName.get(key);
          return inner === undefined ? undefined : goShape(inner.type, inner);
        },
      };
    case 'map':
      return { ...deduced, atomic: field?.atomic ?? false, child: () => goShape(type.value) };
    case 'list': {
      const keys = field?.mapKeys ?? [];
      const list = field?.set === true ? 'set' : keys.length > 0 ? 'map' : 'atomic';
      return { ...deduced, list, keys, items: () => goShape(type.item) };
    }
    default:
      return leaf;
  }
}

function customShape(schema: CustomSchema): Shape {
  const { items, additional } = schema;
  return {
    atomic: schema.mapType === 'atomic',
    list: schema.listType === 'set' || schema.listType === 'map' ? schema.listType : 'atomic',
    keys: schema.mapKeys,
    child(key) {
      const property = schema.properties.get(key);
      if (property !== undefined) return customShape(property);
      if (typeof additional === 'object') return customShape(additional);
      return schema.keepsUnknown || additional ? deduced : undefined;
    },
    items: () => (items === undefined ? deduced : customShape(items)),
  };
}
