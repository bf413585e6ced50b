import { isFields, type Fields } from '../json.ts';
import { fieldElement, itemElement, type Element } from './element.ts';
import type { Shape } from './shape.ts';

/** A field of an applied object that its kind does not have. */
export class UndeclaredFieldError extends Error {}

/** A set of fields, as a tree. */
export class FieldSet {
  /** This very field is in the set. */
  readonly member: boolean;
  readonly children: ReadonlyMap<Element, FieldSet>;

  constructor(member: boolean, children: ReadonlyMap<Element, FieldSet>) {
    this.member = member;
    this.children = children;
  }

  static readonly empty = new FieldSet(false, new Map());

  /** The fields that a value sets. Throws `UndeclaredFieldError`. */
  static of(value: unknown, shape: Shape, path = ''): FieldSet {
    if (isFields(value) && !shape.atomic) return fieldsIn(value, shape, { path, member: false });
    if (!Array.isArray(value) || shape.list === 'atomic' || value.length === 0) return leaf;
    const children = new Map<Element, FieldSet>();
    for (const item of value as unknown[]) {
      const element = itemElement(item, shape);
      const place = { path: `${path}[${element.slice(2)}]`, member: true };
      const inner = shape.list === 'map' && isFields(item) ? fieldsIn(item, shape.items(), place) : leaf;
      children.set(element, inner);
    }
    return new FieldSet(false, children);
  }

  /** Reads the form in which managed fields are stored. */
  static read(stored: unknown): FieldSet {
    const fields = isFields(stored) ? stored : {};
    const names = Object.keys(fields).filter((name) => name !== '.');
    const children = new Map(names.map((name) => [name, FieldSet.read(fields[name])]));
    return new FieldSet(names.length === 0 || fields['.'] !== undefined, children);
  }

  print(): Fields {
    const printed: Fields = {};
    if (this.member && this.children.size > 0) printed['.'] = {};
    for (const element of [...this.children.keys()].toSorted()) printed[element] = this.children.get(element)?.print();
    return printed;
  }

  get isEmpty(): boolean {
    return !this.member && [...this.children.values()].every((child) => child.isEmpty);
  }

  union(other: FieldSet): FieldSet {
    return combine(this, other, (a, b) => a || b);
  }

  without(other: FieldSet): FieldSet {
    return combine(this, other, (a, b) => a && !b);
  }

  intersect(other: FieldSet): FieldSet {
    return combine(this, other, (a, b) => a && b);
  }

  /** Only the members for which `keep` says so. */
  filter(keep: (path: readonly Element[]) => boolean, path: readonly Element[] = []): FieldSet {
    const children = new Map(
      [...this.children].map(([element, child]) => [element, child.filter(keep, [...path, element])]),
    );
    return pruned(this.member && keep(path), children);
  }

  /** The paths of all members, in order. */
  paths(path: readonly Element[] = []): (readonly Element[])[] {
    const own = this.member ? [path] : [];
    const elements = [...this.children.keys()].toSorted();
    return [...own, ...elements.flatMap((element) => this.children.get(element)?.paths([...path, element]) ?? [])];
  }
}

const leaf = new FieldSet(true, new Map());

function fieldsIn(fields: Fields, shape: Shape, { path, member }: { path: string; member: boolean }): FieldSet {
  const names = Object.keys(fields).filter((name) => fields[name] !== undefined);
  if (names.length === 0) return leaf;
  const children = new Map<Element, FieldSet>();
  for (const name of names) {
    const child = shape.child(name);
    if (child === undefined) throw new UndeclaredFieldError(`${path}.${name}: field not declared in schema`);
    children.set(fieldElement(name), FieldSet.of(fields[name], child, `${path}.${name}`));
  }
  return new FieldSet(member, children);
}

function combine(a: FieldSet, b: FieldSet, member: (a: boolean, b: boolean) => boolean): FieldSet {
  const children = new Map<Element, FieldSet>();
  for (const element of new Set([...a.children.keys(), ...b.children.keys()])) {
    const [one, other] = [a.children.get(element) ?? FieldSet.empty, b.children.get(element) ?? FieldSet.empty];
    children.set(element, combine(one, other, member));
  }
  return pruned(member(a.member, b.member), children);
}

function pruned(member: boolean, children: ReadonlyMap<Element, FieldSet>): FieldSet {
  return new FieldSet(member, new Map([...children].filter(([, child]) => !child.isEmpty)));
}
