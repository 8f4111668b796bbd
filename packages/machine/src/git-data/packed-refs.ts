/** The content of git's file of packed refs. */
export interface PackedRefs {
  /** In the order of the file; a name can occur twice. Ids are in lower case. */
  readonly refs: readonly (readonly [name: string, id: string])[];
  /** True if git finds exactly these refs: every line is readable, and the header is right. */
  readonly isSound: boolean;
}

/**
 * Parses the file as leniently as git: any white space after an id, and ids in upper case.
 * @param text decoded as latin1
 */
export function packedRefs(text: string): PackedRefs {
  const lines = text.split("\n");
  const isEnded = lines.at(-1) === "";
  if (isEnded) lines.pop();
  const head = lines[0]?.startsWith("#") ? lines.shift() : undefined;
  const refs: (readonly [name: string, id: string])[] = [];
  let isSound = isEnded && (head === undefined || /^# pack-refs with:[ -~]*$/.test(head));
  /** The ref of a tag whose target the next line may name. */
  let above = "";
  for (const line of lines) {
    // Branches are commits, so git never packs a target for them.
    if (above !== "" && !above.startsWith("refs/heads/") && peeled.test(line)) {
      above = "";
      continue;
    }
    const ref = packedRef(line);
    if (ref === undefined) isSound = false;
    else refs.push(ref);
    above = ref?.[0] ?? "";
  }
  // In a file that is marked as sorted, git uses binary search, and does not find misplaced names.
  if (head?.split(" ").includes("sorted") === true) isSound &&= inOrder(refs);
  return { refs, isSound: isSound && new Set(refs.map(([, id]) => id.length)).size < 2 };
}

const peeled = /^\^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i;
/** Names that `git check-ref-format` refuses. */
const refused = /[\0-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|\/\.|\.(?:\/|$)|\.lock(?:\/|$)|\/$/;

function packedRef(line: string): readonly [name: string, id: string] | undefined {
  const [, id, name] = /^([0-9a-f]{40}|[0-9a-f]{64})[ \t\r](refs\/.+)$/i.exec(line) ?? [];
  return id === undefined || name === undefined || refused.test(name) ? undefined : [name, id.toLowerCase()];
}

function inOrder(refs: PackedRefs["refs"]): boolean {
  return refs.every(([name], index) => (refs[index - 1]?.[0] ?? "") <= name);
}
