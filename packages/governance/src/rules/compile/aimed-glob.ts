import { globMatcher } from "../../glob-matcher.ts";
import { type CompiledPath, type PathPart, splitComponents } from "./compile-path.ts";

/**
 * How a glob bears on a protected path: `aimed` when it spells part of the protected name (`.e*`, `*.pem`), `broad` when it
 * only takes it in among all else (`*`), undefined when it cannot reach it.
 *
 * @param glob its last component decides, unless one before it names a protected directory
 * @param options.dot true when wildcards match a leading dot, as in most search tools and not in shells
 */
export function globReach(
  glob: string,
  path: CompiledPath,
  options: { readonly dot: boolean },
): "aimed" | "broad" | undefined {
  const components = splitComponents(glob.normalize("NFC").toLowerCase());
  const wanted = path.parts.at(-1);
  if (wanted === undefined || wanted.deep) return undefined;
  let reach: "aimed" | "broad" | undefined;
  for (const [index, component] of components.entries()) {
    if (component === "**") continue;
    const isLast = index === components.length - 1;
    const found = componentReach(component, wanted, options.dot);
    // A wildcard directory on the way reaches nothing by itself; a named one does.
    if (found === "aimed") return "aimed";
    if (found !== undefined && isLast) reach = found;
  }
  return reach;
}

function componentReach(component: string, wanted: PathPart, dot: boolean): "aimed" | "broad" | undefined {
  const sample = wanted.glob === undefined ? wanted.text : sampleOf(wanted);
  if (!/[*?[{(]/.test(component)) {
    const names = wanted.glob === undefined ? component === wanted.text : wanted.glob(component);
    return names ? "aimed" : undefined;
  }
  if (component === wanted.text) return "aimed";
  let reach: "aimed" | "broad" | undefined;
  for (const alternative of alternatives(component)) {
    if (!/[*?[(]/.test(alternative)) {
      if (wanted.glob === undefined ? alternative === wanted.text : wanted.glob(alternative)) return "aimed";
      continue;
    }
    if (!dot && sample.startsWith(".") && /^[*?]/.test(alternative)) continue;
    if (!globMatcher(alternative)(sample)) continue;
    if (spells(alternative, wanted)) return "aimed";
    reach = "broad";
  }
  return reach;
}

/** Whether the glob spells enough of the name to be no coincidence. */
function spells(glob: string, wanted: PathPart): boolean {
  const name = wanted.text.replace(/[*?[\]{}]/g, "");
  const prefix = /^[^*?[({]*/.exec(glob)?.[0] ?? "";
  if (prefix.length > 0 && name.startsWith(prefix) && (prefix.startsWith(".") || prefix.length > 1)) return true;
  const spelled = glob.replace(/\[[^\]]*\]|[*?(){}|+@!]/g, "");
  return spelled.length > 1 && spelled.length * 2 >= name.length;
}

/** A name that the protected glob matches. */
function sampleOf(part: PathPart): string {
  return (alternatives(part.text)[0] ?? part.text).replace(/\[!?(.)[^\]]*\]/g, "$1").replace(/[*?]/g, "x");
}

function alternatives(component: string): readonly string[] {
  const braces = /^(.*?)\{([^{}]*)\}(.*)$/.exec(component);
  if (braces === null) return [component];
  const [, before = "", inner = "", after = ""] = braces;
  return inner
    .split(",")
    .slice(0, 64)
    .flatMap((item) => alternatives(before + item + after))
    .slice(0, 256);
}
