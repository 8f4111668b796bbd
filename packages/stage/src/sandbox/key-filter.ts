/** The kernel's numbers for an architecture and its calls `add_key`, `request_key` and `keyctl`, which are consecutive. */
const calls: Readonly<Record<string, readonly { readonly architecture: number; readonly first: number }[]>> = {
  // Also the calls of 32-bit programs.
  x64: [
    { architecture: 0xc000003e, first: 248 },
    { architecture: 0x40000003, first: 286 },
  ],
  arm64: [
    { architecture: 0xc00000b7, first: 217 },
    { architecture: 0x40000028, first: 309 },
  ],
};

const instructions = { load: 0x20, and: 0x54, equal: 0x15, greater: 0x25, atLeast: 0x35, end: 0x06 } as const;
const allow = 0x7fff0000;
const notPermitted = 0x00050001;
/** Where these numbers are in the data that the kernel gives to a filter. */
const offsets = { call: 0, architecture: 4 } as const;
/** Mask that removes the bit of x64's third kind of calls (x32). */
const withoutX32 = 0xbfffffff;

/**
 * A filter of system calls that blocks the kernel's keyrings: no namespace hides the keyrings of the session in which the server
 * was started, which may hold logins. Undefined for other processors. In bubblewrap's format: a program in classic BPF.
 */
export function keyFilter(processor: string = process.arch): Uint8Array | undefined {
  const blocks = calls[processor];
  if (blocks === undefined) return undefined;
  const length = 6;
  const end = 1 + length * blocks.length;
  const program: (readonly [code: number, then: number, otherwise: number, value: number])[] = [
    [instructions.load, 0, 0, offsets.architecture],
  ];
  for (const { architecture, first } of blocks) {
    const at = program.length;
    program.push(
      [instructions.equal, 0, length - 1, architecture],
      [instructions.load, 0, 0, offsets.call],
      [instructions.and, 0, 0, withoutX32],
      [instructions.atLeast, 0, end - (at + 4), first],
      [instructions.greater, end - (at + 5), 0, first + 2],
      [instructions.end, 0, 0, notPermitted],
    );
  }
  program.push([instructions.end, 0, 0, allow]);
  const bytes = Buffer.alloc(8 * program.length);
  for (const [index, [code, then, otherwise, value]] of program.entries()) {
    bytes.writeUInt16LE(code, 8 * index);
    bytes.writeUInt8(then, 8 * index + 2);
    bytes.writeUInt8(otherwise, 8 * index + 3);
    bytes.writeUInt32LE(value, 8 * index + 4);
  }
  return bytes;
}
