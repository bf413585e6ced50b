import { nameOf, type Field } from './field.ts';
import { refuse, type Reading } from './reading.ts';

/** A list of which the good items are kept: a bad one is named and left out. More than `maxItems` are no list at all. */
export function list<T>(item: Field<T>, maxItems: number, minItems = 0): Field<readonly T[]> {
  return {
    rule: { type: 'array', maxItems, ...(minItems > 0 && { minItems }), items: item.rule },
    read: (value, path, reading) => {
      if (!Array.isArray(value)) return refuse(reading, path, `must be a list, is ${nameOf(value)}`);
      if (value.length > maxItems || value.length < minItems) {
        return refuse(reading, path, `must have ${minItems} to ${maxItems} items, has ${value.length}`);
      }
      const items: T[] = [];
      value.forEach((element, index) => {
        const read = item.read(element, `${path}[${index}]`, reading);
        if (read !== undefined) items.push(read);
      });
      return items;
    },
  };
}

/** A list of texts in which each stands once; as a whole unusable when one item is. */
export function set<T extends string>(item: Field<T>, maxItems: number, minItems = 0): Field<readonly T[]> {
  const inner = list(item, maxItems, minItems);
  return {
    rule: inner.rule,
    read: (value, path, reading) => {
      const before = reading.problems.length;
      const items = inner.read(value, path, reading);
      if (items === undefined || reading.problems.length > before) return undefined;
      const twice = items.find((one, index) => items.indexOf(one) !== index);
      return twice === undefined ? items : refuse(reading, path, `has ${nameOf(twice)} twice`);
    },
  };
}

/** A list of objects told apart by their name: a second one of a name is named and left out. */
export function namedList<T extends { readonly name: string }>(item: Field<T>, maxItems: number): Field<readonly T[]> {
  const inner = list(item, maxItems);
  return {
    rule: inner.rule,
    read: (value, path, reading) => {
      const seen = new Set<string>();
      return inner.read(value, path, reading)?.filter(({ name }) => {
        if (!seen.has(name)) return seen.add(name);
        return refuse(reading, path, `has the name ${nameOf(name)} twice`);
      });
    },
  };
}

/** A map from text to text; as a whole unusable when one value is. `keys` judges the names. */
export function textMap(
  value: Field<string>,
  maxProperties: number,
  keys: (key: string) => string | undefined = () => undefined,
): Field<Readonly<Record<string, string>>> {
  return {
    rule: { type: 'object', maxProperties, items: value.rule },
    read: (given, path, reading) => {
      if (typeof given !== 'object' || given === null || Array.isArray(given)) {
        return refuse(reading, path, `must be an object, is ${nameOf(given)}`);
      }
      const entries = Object.entries(given);
      if (entries.length > maxProperties) return refuse(reading, path, `must have at most ${maxProperties} entries`);
      const before = reading.problems.length;
      for (const [key, one] of entries) {
        const problem = keys(key);
        if (problem !== undefined) refuse(reading, `${path}[${nameOf(key)}]`, problem);
        else value.read(one, `${path}[${nameOf(key)}]`, reading);
      }
      return reading.problems.length === before ? (given as Record<string, string>) : undefined;
    },
  };
}

/** A field whose value is judged, or made into something else, once it has been read. */
export function refine<A, B>(
  field: Field<A>,
  next: (value: A, path: string, reading: Reading) => B | undefined,
): Field<B> {
  return {
    rule: field.rule,
    read: (value, path, reading) => {
      const read = field.read(value, path, reading);
      return read === undefined ? undefined : next(read, path, reading);
    },
  };
}
