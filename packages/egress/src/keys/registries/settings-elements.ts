/**
 * The texts of elements of XML, each by the names of the elements in it. Empty if the text is not of the plain form in which such
 * settings are written. Texts that no one can use as they are, as encrypted ones, are left out.
 *
 * @param steps names that lead there, below the root @param environment for `${env.NAME}` in a text
 */
export function elementsIn(
  text: string,
  steps: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): readonly Readonly<Record<string, string>>[] {
  const found: Record<string, string>[] = [];
  const open: string[] = [];
  const wanted = steps.join("/");
  let said = "";
  let at = 0;
  for (const { 0: whole, 1: data, 2: end, 3: name, 4: empty, 5: plain, index } of text.matchAll(token)) {
    if (index !== at) return [];
    at += whole.length;
    said += data ?? decoded(plain ?? "");
    if (name === undefined) continue;
    const isInner = open.slice(1, -1).join("/") === wanted;
    if (end === "/") {
      if (open.at(-1) !== name) return [];
      const value = usable(said.trim(), environment);
      const one = found.at(-1);
      if (isInner && one !== undefined && value !== undefined) one[name] = value;
      open.pop();
    } else if (empty !== "/") {
      open.push(name);
      if (open.slice(1).join("/") === wanted) found.push({});
    }
    said = "";
  }
  return at === text.length && open.length === 0 ? found : [];
}

const token = /<!--[^]*?-->|<\?[^]*?\?>|<!\[CDATA\[([^]*?)\]\]>|<(\/?)([\w.:-]+)(?:\s[^<>]*?)?(\/?)>|([^<]+)/g;

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function decoded(text: string): string {
  return text.replaceAll(/&(#?\w+);/g, (whole, name: string) => {
    if (!name.startsWith("#")) return entities[name] ?? whole;
    const code = Number(name.slice(1).replace(/^x/, "0x"));
    return code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole;
  });
}

/** Undefined for a text that is encrypted, `{…}`, or has a value in it that is not known. */
function usable(text: string, environment: Readonly<Record<string, string | undefined>>): string | undefined {
  const filled = text.replaceAll(/\$\{env\.(\w+)\}/g, (whole, name: string) => environment[name] ?? whole);
  return /\$\{|(?<!\\)\{.+\}/.test(filled) ? undefined : filled;
}
