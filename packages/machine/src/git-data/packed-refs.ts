/** What git's file of packed refs says. */
export interface PackedRefs {
  /** In their order; a name can be there twice. Ids are in lower case. */
  readonly refs: readonly (readonly [name: string, id: string])[];
  /** Lines that git would not read either. */
  readonly unreadable: readonly string[];
}

/** Reads it as leniently as git does: any white space stands after an id, and an id may be in capitals. */
export function packedRefs(text: string): PackedRefs {
  const refs: (readonly [string, string])[] = [];
  const unreadable: string[] = [];
  for (const line of text.split("\n")) {
    const ref = packedRef(line);
    if (ref !== undefined) refs.push(ref);
    else if (!isOther(line)) unreadable.push(line);
  }
  return { refs, unreadable };
}

/** The text without a ref, however often it is there, and without what its tag leads to. */
export function withoutPacked(text: string, name: string): string {
  let isGone = false;
  return text
    .split("\n")
    .filter((line) => {
      if (!line.startsWith("^")) isGone = packedRef(line)?.[0] === name;
      return !isGone;
    })
    .join("\n");
}

export function withoutUnreadable(text: string): string {
  return text
    .split("\n")
    .filter((line) => packedRef(line) !== undefined || isOther(line))
    .join("\n");
}

function packedRef(line: string): readonly [name: string, id: string] | undefined {
  const [, id, name] = /^([0-9a-f]{40,64})\s(.+)$/i.exec(line) ?? [];
  return id === undefined || name === undefined ? undefined : [name, id.toLowerCase()];
}

/** The head of the file, what a tag leads to, or nothing. */
function isOther(line: string): boolean {
  return line === "" || line.startsWith("#") || /^\^[0-9a-f]{40,64}\s*$/i.test(line);
}
