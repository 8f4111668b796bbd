/** File types for searches, by ripgrep's names, with their globs. */
export const fileTypes: Readonly<Record<string, string>> = {
  c: "*.{c,h}",
  cpp: "*.{cpp,cc,cxx,hpp,hh,hxx,h}",
  cs: "*.cs",
  css: "*.{css,scss}",
  go: "*.go",
  html: "*.{html,htm}",
  java: "*.java",
  js: "*.{js,jsx,mjs,cjs,vue}",
  json: "*.json",
  kotlin: "*.{kt,kts}",
  md: "*.{md,mdx,markdown}",
  php: "*.php",
  py: "*.{py,pyi}",
  ruby: "*.rb",
  rust: "*.rs",
  sh: "*.{sh,bash,zsh}",
  sql: "*.sql",
  swift: "*.swift",
  toml: "*.toml",
  ts: "*.{ts,tsx,mts,cts}",
  yaml: "*.{yaml,yml}",
};

/**
 * The glob of files that match both, e.g. `src/**` and `ts`; undefined if there are none, or no glob can express it. Only the
 * last part of a glob is considered: its type, or the extensions it names.
 */
export function globOfType(glob: string, type: string): string | undefined {
  const ofType = fileTypes[type];
  const [, directory = "", name = ""] = /^([^!].*\/)?([^/]*)$/.exec(glob) ?? [];
  if (ofType === undefined || name === "") return undefined;
  if (name === "**") return `${directory}**/${ofType}`;
  if (name === "*") return `${directory}${ofType}`;
  const endings = endingsOf(ofType);
  const [, stem, ending = ""] = /^(.*)\.([^.{}*?[\]!]+|\{[^.{}*?[\]!]+\})$/.exec(name) ?? [];
  if (stem === undefined || stem.startsWith("!")) return undefined;
  const named = endingsOf(`*.${ending}`);
  const both = named.filter((each) => endings.includes(each));
  if (both.length === 0) return undefined;
  return both.length === named.length
    ? glob
    : `${directory}${stem}.${both.length === 1 ? both[0] : `{${both.join(",")}}`}`;
}

/** Extensions of a glob `*.a` or `*.{a,b}`. */
function endingsOf(glob: string): readonly string[] {
  return glob.slice(2).replaceAll(/[{}]/g, "").split(",");
}
