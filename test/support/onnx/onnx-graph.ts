/** Element types of tensors, by their numbers in `TensorProto.DataType` (onnx.proto). */
const ELEMENTS = { float: 1, uint8: 2, int8: 3, int32: 6, int64: 7, bool: 9 } as const;
export type ElementType = keyof typeof ELEMENTS;
/** A number is a fixed size, a name is a free one. */
export type Shape = readonly (number | string)[];
/** Integers are written as such; numbers of a `Float32Array` and `{ float }` as floats. */
export type Attribute = number | readonly number[] | string | { readonly float: number };

const OPSET = 13;
const IR_VERSION = 7;

/**
 * Writes an ONNX model: values are named by strings, which operators take and return.
 * The fields are numbered in onnx.proto of the ONNX project.
 */
export class OnnxGraph {
  readonly #nodes: Uint8Array[] = [];
  readonly #constants: Uint8Array[] = [];
  readonly #constantNames = new Map<string, string>();
  readonly #inputs: Uint8Array[] = [];
  readonly #outputs: Uint8Array[] = [];
  #names = 0;

  input(name: string, type: ElementType, shape: Shape): string {
    this.#inputs.push(valueInfo(name, type, shape));
    return name;
  }

  /** Names a value as an output of the model; outputs come in the order of these calls. */
  output(name: string, value: string, type: ElementType, shape: Shape): void {
    this.#nodes.push(node('Identity', [value], [name], {}));
    this.#outputs.push(valueInfo(name, type, shape));
  }

  /** A constant; equal ones are written once. A number alone is a scalar. */
  floats(values: number | readonly number[] | Float32Array, shape?: readonly number[]): string {
    return this.#constant(
      'float',
      typeof values === 'number' ? Float32Array.of(values) : Float32Array.from(values),
      shape ?? sizes(values),
    );
  }

  int64s(values: number | readonly number[], shape?: readonly number[]): string {
    const list = typeof values === 'number' ? [values] : values;
    return this.#constant('int64', BigInt64Array.from(list, BigInt), shape ?? sizes(values));
  }

  int8s(values: Int8Array, shape: readonly number[]): string {
    return this.#constant('int8', values, shape);
  }

  /** One operator with one output. @returns the name of its output */
  op(type: string, inputs: readonly string[], attributes: Readonly<Record<string, Attribute>> = {}): string {
    const [name = ''] = this.ops(type, inputs, 1, attributes);
    return name;
  }

  /** One operator with several outputs. */
  ops(type: string, inputs: readonly string[], outputs: number, attributes: Readonly<Record<string, Attribute>> = {}): string[] {
    const names = Array.from({ length: outputs }, () => this.#name());
    this.#nodes.push(node(type, inputs, names, attributes));
    return names;
  }

  /** The file. @param metadata what sherpa-onnx reads of the model, for example its `model_type` */
  bytes(metadata: Readonly<Record<string, string | number>> = {}): Uint8Array {
    const graph = message([
      ...this.#nodes.map((each) => field(1, each)),
      field(2, text('graph')),
      ...this.#constants.map((each) => field(5, each)),
      ...this.#inputs.map((each) => field(11, each)),
      ...this.#outputs.map((each) => field(12, each)),
    ]);
    return message([
      integer(1, IR_VERSION),
      field(7, graph),
      field(8, message([field(1, text('')), integer(2, OPSET)])),
      ...Object.entries(metadata).map(([key, value]) => field(14, message([field(1, text(key)), field(2, text(String(value)))]))),
    ]);
  }

  #constant(type: ElementType, values: Float32Array | BigInt64Array | Int8Array, shape: readonly number[]): string {
    const raw = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
    const key = raw.length > 64 ? undefined : `${type} ${shape.join('x')} ${raw.toString('hex')}`;
    const known = key === undefined ? undefined : this.#constantNames.get(key);
    if (known !== undefined) return known;
    const name = this.#name();
    if (key !== undefined) this.#constantNames.set(key, name);
    this.#constants.push(
      message([...shape.map((size) => integer(1, size)), integer(2, ELEMENTS[type]), field(8, text(name)), field(9, raw)]),
    );
    return name;
  }

  #name(): string {
    this.#names += 1;
    return `v${this.#names}`;
  }
}

const sizes = (values: number | { readonly length: number }): number[] => (typeof values === 'number' ? [] : [values.length]);
const text = (value: string): Uint8Array => new TextEncoder().encode(value);

function valueInfo(name: string, type: ElementType, shape: Shape): Uint8Array {
  const sizesOf = shape.map((size) => field(1, typeof size === 'number' ? integer(1, size) : field(2, text(size))));
  const tensor = message([integer(1, ELEMENTS[type]), field(2, message(sizesOf))]);
  return message([field(1, text(name)), field(2, field(1, tensor))]);
}

function node(
  type: string,
  inputs: readonly string[],
  outputs: readonly string[],
  attributes: Readonly<Record<string, Attribute>>,
): Uint8Array {
  return message([
    ...inputs.map((name) => field(1, text(name))),
    ...outputs.map((name) => field(2, text(name))),
    field(4, text(type)),
    ...Object.entries(attributes).map(([name, value]) => field(5, attribute(name, value))),
  ]);
}

function attribute(name: string, value: Attribute): Uint8Array {
  const named = field(1, text(name));
  if (typeof value === 'number') return message([named, integer(3, value), integer(20, 2)]);
  if (typeof value === 'string') return message([named, field(4, text(value)), integer(20, 3)]);
  if ('float' in value) return message([named, varint((2 << 3) | 5), littleEndian(value.float), integer(20, 1)]);
  return message([named, ...value.map((each) => integer(8, each)), integer(20, 7)]);
}

// The wire format of protocol buffers: a message is its fields, each behind its number and the kind of its value.

const message = (parts: readonly Uint8Array[]): Uint8Array => Buffer.concat(parts);
const field = (number: number, value: Uint8Array): Uint8Array =>
  message([varint((number << 3) | 2), varint(value.length), value]);
const integer = (number: number, value: number): Uint8Array => message([varint(number << 3), varint(value)]);

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  // Negative numbers are written as 64 bits of two's complement.
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return Uint8Array.from([...bytes, Number(rest)]);
}

function littleEndian(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
}
