/** The kernel's numbers for the calls of an architecture. */
interface Calls {
  readonly architecture: number;
  /** `add_key`; `request_key` and `keyctl` follow it. */
  readonly keys: number;
  readonly socket: number;
  /** Makes sockets by arguments that a filter cannot read. */
  readonly socketcall?: number;
}

/** For each processor; also the calls of 32-bit programs. */
const processors: Readonly<Record<string, readonly Calls[]>> = {
  x64: [
    { architecture: 0xc000003e, keys: 248, socket: 41 },
    { architecture: 0x40000003, keys: 286, socket: 359, socketcall: 102 },
  ],
  arm64: [
    { architecture: 0xc00000b7, keys: 217, socket: 198 },
    { architecture: 0x40000028, keys: 309, socket: 281 },
  ],
};

/** Makes sockets by messages that a filter does not see. The same number on all architectures. */
const ioUringSetup = 425;
/** Of sockets that the network namespace holds: within the machine (1), IPv4, IPv6, netlink. */
const families: readonly number[] = [1, 2, 10, 16];

const instructions = { load: 0x20, and: 0x54, equal: 0x15, greater: 0x25, atLeast: 0x35, end: 0x06 } as const;
const allow = 0x7fff0000;
const notPermitted = 0x00050001;
const notImplemented = 0x00050026;
const unknownFamily = 0x00050061;
/** Where these numbers are in the data that the kernel gives to a filter. */
const offsets = { call: 0, architecture: 4, firstArgument: 16 } as const;
/** Mask that removes the bit of x64's third kind of calls (x32). */
const withoutX32 = 0xbfffffff;

type Instruction = readonly [code: number, then: number, otherwise: number, value: number];

/**
 * A filter of system calls for what no namespace holds: the kernel's keyrings, where logins of the session that started the server
 * may be, and all sockets but those of the known families, some of which (vsock) lead to the machine around this one. Undefined
 * for other processors. In bubblewrap's format: a program in classic BPF.
 */
export function callFilter(processor: string = process.arch): Uint8Array | undefined {
  const blocks = processors[processor]?.map(blockOf);
  if (blocks === undefined) return undefined;
  const program: readonly Instruction[] = [
    [instructions.load, 0, 0, offsets.architecture],
    ...blocks.flat(),
    [instructions.end, 0, 0, allow],
  ];
  const bytes = Buffer.alloc(8 * program.length);
  for (const [index, [code, then, otherwise, value]] of program.entries()) {
    bytes.writeUInt16LE(code, 8 * index);
    bytes.writeUInt8(then, 8 * index + 2);
    bytes.writeUInt8(otherwise, 8 * index + 3);
    bytes.writeUInt32LE(value, 8 * index + 4);
  }
  return bytes;
}

/** What is done with the calls of one architecture; those of others come behind it. */
function blockOf({ architecture, keys, socket, socketcall = ioUringSetup }: Calls): readonly Instruction[] {
  const block: readonly Instruction[] = [
    [instructions.load, 0, 0, offsets.call],
    [instructions.and, 0, 0, withoutX32],
    [instructions.atLeast, 0, 2, keys],
    [instructions.greater, 1, 0, keys + 2],
    [instructions.end, 0, 0, notPermitted],
    [instructions.equal, 1, 0, ioUringSetup],
    [instructions.equal, 0, 1, socketcall],
    [instructions.end, 0, 0, notImplemented],
    [instructions.equal, 0, families.length + 2, socket],
    [instructions.load, 0, 0, offsets.firstArgument],
    ...families.map((family, index): Instruction => [instructions.equal, families.length - index, 0, family]),
    [instructions.end, 0, 0, unknownFamily],
    [instructions.end, 0, 0, allow],
  ];
  return [[instructions.equal, 0, block.length, architecture], ...block];
}
