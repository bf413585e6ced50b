import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decode, DecodeError, emptyOf } from './decode.ts';
import { parseGoTypes, type StructType } from './go-type.ts';

const types = parseGoTypes(`
Part
  name string
  size? int32
Whole
  parts? []Part merge=name
  labels? map string
  limit? *int32
  at? Time
  part Part
  note string
`);
const whole = types.get('Whole') as StructType;

describe('decoding as Go does', () => {
  test('leaves empty fields out where their tag says so, and shows the others', () => {
    const shown = { part: { name: '' }, note: '' };
    assert.deepEqual(emptyOf(whole), shown);
    assert.deepEqual(decode({ labels: {}, parts: [], limit: null }, whole).value, shown);
    assert.deepEqual(decode({ limit: 0 }, whole).value, { limit: 0, ...shown });
  });

  test('drops fields that it does not know, and names them with their indexes', () => {
    const { value, unknown } = decode({ parts: [{ name: 'a', colour: 1 }], x: 1 }, whole);
    assert.deepEqual(value['parts'], [{ name: 'a' }]);
    assert.deepEqual(unknown, ['parts[0].colour', 'x']);
  });

  test('refuses values of another type in the words of Go', () => {
    const refused = (value: unknown): string => {
      try {
        decode(value, whole);
        return 'accepted';
      } catch (error) {
        assert.ok(error instanceof DecodeError);
        return error.message;
      }
    };
    assert.equal(refused({ note: 5 }), 'json: cannot unmarshal number into Go struct field Whole.note of type string');
    assert.match(
      refused({ parts: {} }),
      /cannot unmarshal object into Go struct field Whole\.parts of type \[\]v1\.Part/,
    );
    assert.match(
      refused({ limit: 1.5 }),
      /cannot unmarshal number 1\.5 into Go struct field Whole\.limit of type int32/,
    );
    assert.match(refused({ at: 'soon' }), /parsing time "soon"/);
  });
});
