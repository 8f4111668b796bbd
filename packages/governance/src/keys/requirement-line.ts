/**
 * One package of an index, rebuilt from its parts; undefined for anything that is, or may be, something else to pip.
 *
 * @param text name, extras and versions: `dep[extra]>=1,<2`
 */
export function indexPackage(text: string): string | undefined {
  if (text.length > longest) return undefined;
  const [, name = "", extras = "", versions = ""] =
    /^([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?) *(\[[^\]]*\])? *([^[\]]*)$/.exec(text) ?? [];
  if (name === "" || !/^(?:|\[ *[\w.-]+(?: *, *[\w.-]+)* *\])$/.test(extras)) return undefined;
  const parts = versions.trim() === "" ? [] : versions.split(",").map((part) => part.trim());
  if (!parts.every((part) => /^(?:[=!~]=|[<>]=?) *[0-9][A-Za-z0-9.*+!_-]*$/.test(part))) return undefined;
  const written = parts.map((part) => part.replaceAll(" ", "")).join(",");
  // If a file has that name, pip would take the file, even with extras.
  if ([name, `${name}${written}`].some((file) => archive.test(file))) return undefined;
  return `${name}${extras.replaceAll(" ", "")}${written}`;
}

/** Under which conditions a package is wanted, written in one form; undefined if the text is no condition. @param text after the `;` */
export function environmentMarker(text: string): string | undefined {
  if (text.length > longest) return undefined;
  const words = text.match(/'[\w.+*~]*'|"[\w.+*~]*"|[a-z_]+|[()]|[=!~]=|[<>]=?|\S/g) ?? [];
  const at = markerFrom(words, 0);
  return at === words.length ? words.join(" ") : undefined;
}

const longest = 1000;

/** Index behind what is a whole marker there; -1 where none is. */
function markerFrom(words: readonly string[], from: number): number {
  let at = from;
  for (;;) {
    at = words[at] === "(" ? closed(words, markerFrom(words, at + 1)) : comparison(words, at);
    if (at < 0 || !/^(?:and|or)$/.test(words[at] ?? "")) return at;
    at += 1;
  }
}

function closed(words: readonly string[], at: number): number {
  return at >= 0 && words[at] === ")" ? at + 1 : -1;
}

function comparison(words: readonly string[], at: number): number {
  const isValue = (word = "") => /^['"]/.test(word) || variable.test(word);
  const length = words[at + 1] === "not" && words[at + 2] === "in" ? 2 : 1;
  const operator = words.slice(at + 1, at + 1 + length).join(" ");
  const isWhole =
    isValue(words[at]) && /^(?:[=!~]=|[<>]=?|(?:not )?in)$/.test(operator) && isValue(words[at + 1 + length]);
  return isWhole ? at + 2 + length : -1;
}

const variable =
  /^(?:python_version|python_full_version|os_name|sys_platform|platform_(?:release|system|version|machine|python_implementation)|implementation_(?:name|version)|extra)$/;

/** Endings of what pip opens, and of what packs. */
const archive = /\.(?:whl|egg|zip|tar|gz|tgz|bz2?|tbz2?|xz|txz|lz|tlz|lzma|lzo|z|zst|tzst)$/i;
