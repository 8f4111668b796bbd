/** One setting in a file of git's configuration. */
export interface GitSetting {
  /** Section and key in lower case, a subsection as it is written: `core.hookspath`, `includeif.gitdir:~/work/.path`. */
  readonly name: string;
  /** Without quotes and escapes; `true` if nothing is assigned. */
  readonly value: string;
}

/** The settings in a text of git's configuration, in order. Skips what git itself could not read. */
export function gitSettingsIn(text: string): readonly GitSetting[] {
  const found: GitSetting[] = [];
  let section = "";
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match !== null) at = pattern.lastIndex;
    return match;
  };
  while (at < text.length) {
    if (take(/(?:[\s\uFEFF]+|[#;][^\n]*)/y) !== null) continue;
    const heading = take(/\[\s*([\w.-]+)(?:\s+"((?:[^"\\\n]|\\[^\n])*)")?\s*\]/y);
    if (heading !== null) {
      const [, name = "", subsection] = heading;
      section = name.toLowerCase() + (subsection === undefined ? "" : `.${subsection.replace(/\\(.)/g, "$1")}`);
      continue;
    }
    const [, key] = take(/([a-z][\w-]*)[ \t]*/iy) ?? [];
    const assigned = key === undefined ? null : take(/=((?:"(?:[^"\\\n]|\\[\s\S])*"|\\[\s\S]|[^"\\\n#;])*)/y);
    if (key === undefined) take(/[^\n]*\n?/y);
    else
      found.push({ name: `${section}.${key.toLowerCase()}`, value: assigned === null ? "true" : plain(assigned[0]) });
  }
  return found;
}

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b", "\n": "" };

function plain(assigned: string): string {
  return assigned
    .slice(1)
    .replaceAll("\r", "")
    .trim()
    .replace(/\\([\s\S])|"/g, (_all, escaped: string | undefined) =>
      escaped === undefined ? "" : (escapes[escaped] ?? escaped),
    );
}
