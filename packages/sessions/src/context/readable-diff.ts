/**
 * A git diff (`--no-prefix --no-renames`) without the files that the agent may not read. A file whose name cannot be parsed is
 * left out too.
 * @param refusalOf why a file may not be read; undefined if it may
 */
export async function readableDiff(
  diff: string,
  refusalOf: (path: string) => Promise<string | undefined>,
): Promise<string> {
  const sections = diff.split(/^(?=diff --)/m);
  const parts = await Promise.all(
    sections.map(async (section) => {
      const [head = ""] = section.split("\n", 1);
      if (!head.startsWith("diff --")) return section;
      const path = pathOf(head);
      const refusal = path === undefined ? "its name cannot be read" : await refusalOf(path);
      return refusal === undefined ? section : `[${path ?? "a file"} is left out: ${refusal}]\n`;
    }),
  );
  return parts.join("");
}

/** The path in `diff --git x x`: without prefixes and renames, both halves are equal. */
function pathOf(head: string): string | undefined {
  const combined = /^diff --(?:cc|combined) (.+)$/.exec(head)?.[1];
  if (combined !== undefined) return combined.startsWith('"') ? undefined : combined;
  const both = /^diff --git ([^"].*)$/.exec(head)?.[1] ?? "";
  const path = both.slice(0, (both.length - 1) / 2);
  return both === `${path} ${path}` && path !== "" ? path : undefined;
}
